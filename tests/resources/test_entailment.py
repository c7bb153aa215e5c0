"""The entailment adapter on a tiny model that the test makes. Its weights are random: only the machinery is tested."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from creval.errors import MissingPartError, ScoringError, UsageError
from creval.resources.entailment import TransformersEntailment
from creval.resources.entailment_cache import CachedEntailment
from creval.resources.exact_entailment import ExactEntailment
from creval.resources.local_models import find_model
from creval.resources.options import ResourceOptions

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "man", "eats", "sleeps", "all", "some", "no"]


def make(folder: Path, labels: dict[int, str]) -> Path:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        num_labels=3,
        initializer_range=1.0,
        id2label=labels,
        label2id={label: i for i, label in labels.items()},
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder


PAIRS = [("a man eats", "a man sleeps"), ("all eats", "some eats"), ("no man", "a man"), ("a man eats", "a man sleeps")]


def test_probabilities_come_in_the_order_entailment_neutral_contradiction(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = make(tmp_path / "nli", {0: "CONTRADICTION", 1: "ENTAILMENT", 2: "NEUTRAL"})
    adapter = TransformersEntailment(str(folder), ResourceOptions(offline=True, batch_size=2))
    rows = adapter.predict(PAIRS)
    assert rows.shape == (4, 3)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-6)
    # By hand, one pair at a time and without padding.
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    for (premise, hypothesis), row in zip(PAIRS, rows, strict=True):
        with torch.no_grad():
            logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits[0].double().numpy()
        expected = np.exp(logits) / np.exp(logits).sum()
        np.testing.assert_allclose(row, expected[[1, 2, 0]], atol=1e-6)
    assert adapter.name.startswith("transformers/nli@sha256:")


def test_each_pair_is_judged_once(tmp_path: Path) -> None:
    folder = make(tmp_path / "nli", {0: "entailment", 1: "neutral", 2: "contradiction"})
    cached = CachedEntailment(TransformersEntailment(str(folder), ResourceOptions(offline=True)), "transformers/x")
    rows = cached.predict(PAIRS)
    np.testing.assert_array_equal(rows[0], rows[3])
    np.testing.assert_array_equal(cached.predict(PAIRS), rows)


def test_a_model_of_two_classes_is_refused(tmp_path: Path) -> None:
    folder = make(tmp_path / "two", {0: "entailment", 1: "not_entailment", 2: "other"})
    with pytest.raises(UsageError, match="do not name entailment, neutral and contradiction"):
        TransformersEntailment(str(folder), ResourceOptions(offline=True)).predict(PAIRS)


def test_absent_weights_and_libraries_have_a_cure(tmp_path: Path) -> None:
    adapter = TransformersEntailment("nobody/nothing", ResourceOptions(offline=True, cache=tmp_path))
    with pytest.raises(MissingPartError, match=r"(pip install transformers torch|Run once without --offline)"):
        adapter.predict(PAIRS)


def test_pairs_are_kept_on_disk_by_digest_and_give_the_same_numbers(tmp_path: Path) -> None:
    folder = make(tmp_path / "nli", {0: "entailment", 1: "neutral", 2: "contradiction"})
    options = ResourceOptions(offline=True, cache=tmp_path / "cache")

    class Counting(TransformersEntailment):
        asked = 0

        def predict(self, pairs):
            Counting.asked += len(pairs)
            return super().predict(pairs)

    first = CachedEntailment(Counting(str(folder), options), "transformers/x", options)
    rows = first.predict(PAIRS)
    first.close()
    second = CachedEntailment(Counting(str(folder), options), "transformers/x", options)
    np.testing.assert_array_equal(second.predict(PAIRS), rows)
    second.close()
    assert Counting.asked == 3
    stored = b"".join(file.read_bytes() for file in (tmp_path / "cache").iterdir())
    assert b"man eats" not in stored


def test_a_pair_that_is_too_long_is_said_and_never_cut(tmp_path: Path) -> None:
    folder = make(tmp_path / "nli", {0: "entailment", 1: "neutral", 2: "contradiction"})
    adapter = TransformersEntailment(str(folder), ResourceOptions(offline=True))
    fits = ("a " * 14, "man " * 15)
    assert adapter.predict([fits]).shape == (1, 3)
    with pytest.raises(ScoringError, match="a pair has 33 tokens, and the model reads 32"):
        adapter.predict([PAIRS[0], ("a " * 15, "man " * 15)])


def test_equal_texts_entail_each_other() -> None:
    rows = CachedEntailment(ExactEntailment(), "exact").predict([("A  Man", "a man"), ("a man", "a men")])
    assert rows.tolist() == [[1, 0, 0], [0, 1, 0]]
    assert CachedEntailment(ExactEntailment(), "exact").predict([]).shape == (0, 3)


def test_a_hub_s_name_may_carry_a_revision(tmp_path: Path) -> None:
    options = ResourceOptions(cache=tmp_path)
    found = find_model("tasksource/deberta-base-long-nli@a1b2c3", options)
    assert (found.place, found.revision, found.local) == ("tasksource/deberta-base-long-nli", "a1b2c3", False)
    assert find_model("nobody/model", options).revision is None

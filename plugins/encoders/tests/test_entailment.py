"""The entailment adapter on a tiny model that the test makes. Its weights are random: only the machinery is tested."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from creval.errors import MissingPartError, ScoringError, UsageError
from creval.resources.open_resource import CALLS_A_PAIR, PROMPT_BYTES, CachedEntailment
from creval.resources.resource_options import ResourceOptions
from creval_encoders import role_entailment
from creval_encoders.entailment_classifier import TransformersEntailment
from creval_encoders.local_models import find_model
from creval_encoders.role_entailment import ExactEntailment, RoleEntailment, read_label

pytestmark = pytest.mark.model

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
        num_labels=len(labels),
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


@pytest.mark.parametrize("labels", [("not_entailment", "entailment"), ("ENTAILMENT", "non-entailment")])
def test_of_two_classes_what_does_not_entail_is_neutral(tmp_path: Path, labels: tuple[str, str]) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = make(tmp_path / "two", dict(enumerate(labels)))
    cached = CachedEntailment(TransformersEntailment(str(folder), ResourceOptions(offline=True)), "transformers/two")
    rows = cached.predict(PAIRS)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    entails = [label.lower() for label in labels].index("entailment")
    for (premise, hypothesis), row in zip(PAIRS, rows, strict=True):
        with torch.no_grad():
            logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits[0].double()
        share = float(torch.softmax(logits, 0)[entails])
        np.testing.assert_allclose(row, [share, 1 - share, 0], atol=1e-6)
    assert cached.classes == 2 and cached.name.endswith(" (two classes)")


@pytest.mark.parametrize(
    "labels",
    [
        {0: "entailment", 1: "not_entailment", 2: "other"},
        {0: "LABEL_0", 1: "LABEL_1"},
        {0: "entailment", 1: "neutral"},
        {0: "entailment", 1: "no_verdict"},
        {0: "entailment", 1: "entailments"},
    ],
)
def test_labels_that_are_not_understood_are_refused(tmp_path: Path, labels: dict[int, str]) -> None:
    folder = make(tmp_path / "odd", labels)
    with pytest.raises(UsageError, match="do not name entailment, neutral and contradiction"):
        TransformersEntailment(str(folder), ResourceOptions(offline=True)).predict(PAIRS)


def test_absent_weights_and_libraries_have_a_fix(tmp_path: Path) -> None:
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


def test_a_pair_that_is_too_long_is_reported_and_never_cut(tmp_path: Path) -> None:
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


class Awaited:
    """A resource that is waited for; it notes what it was asked."""

    name = "awaited@1"

    def __init__(self, fails: bool = False) -> None:
        self.asked: list[tuple[str, str]] = []
        self.fails = fails
        self.go_on = asyncio.Event()

    async def predict(self, pairs):
        self.asked += pairs
        await self.go_on.wait()
        if self.fails:
            raise ScoringError("no verdict")
        return ExactEntailment().predict(pairs)


def test_an_awaited_resource_is_asked_once_for_a_pair_also_while_it_is_on_its_way(tmp_path: Path) -> None:
    async def ask() -> None:
        inner, options = Awaited(), ResourceOptions(cache=tmp_path)
        cached = CachedEntailment(inner, "awaited", options)
        first = asyncio.ensure_future(cached.predict([("a", "a"), ("a", "b")]))
        second = asyncio.ensure_future(cached.predict([("a", "b"), ("b", "b"), ("a", "b")]))
        gone = asyncio.ensure_future(cached.predict([("a", "a")]))
        await asyncio.sleep(0)
        gone.cancel()  # one who gives up takes nothing from the others
        inner.go_on.set()
        assert (await first).tolist() == [[1, 0, 0], [0, 1, 0]]
        assert (await second).tolist() == [[0, 1, 0], [1, 0, 0], [0, 1, 0]]
        assert inner.asked == [("a", "a"), ("a", "b"), ("b", "b")]
        known = cached.predict([("b", "b")])
        assert isinstance(known, np.ndarray) and known.tolist() == [[1, 0, 0]]
        cached.close()
        again = CachedEntailment(Awaited(fails=True), "awaited", options)  # from disk
        assert again.predict([("a", "b")]).tolist() == [[0, 1, 0]]

    asyncio.run(ask())


def test_what_an_awaited_resource_raises_reaches_all_who_wait_and_is_asked_anew(tmp_path: Path) -> None:
    async def ask() -> None:
        inner = Awaited(fails=True)
        inner.go_on.set()
        cached = CachedEntailment(inner, "awaited")
        found = await asyncio.gather(*(cached.predict([("a", "b")]) for _ in range(2)), return_exceptions=True)
        assert [type(each) for each in found] == [ScoringError, ScoringError]
        inner.fails = False
        assert (await cached.predict([("a", "b")])).tolist() == [[0, 1, 0]]
        assert inner.asked == [("a", "b")] * 2

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("entailment", "entailment"),
        ("**Neutral.**", "neutral"),
        ("Answer: contradiction", "contradiction"),
        ("The answer is: `neutral`", "neutral"),
        ("The second text follows from it.\n\nentailment\n", "entailment"),
        ("Neutral\nThe second may be true or not.", "neutral"),
        ("not entailment", None),
        ("no contradiction", None),
        ("entailment or neutral", None),
        ("neutral\nOn second thought:\nentailment", None),
        ("It is neither.", None),
        ("", None),
    ],
)
def test_a_label_is_read_where_it_is_alone(text: str, label: str | None) -> None:
    assert read_label(text) == label


@pytest.mark.parametrize("role", ["", "target"])
def test_a_role_that_cannot_judge_is_refused(role: str) -> None:
    with pytest.raises(UsageError, match="no role that can judge"):
        RoleEntailment(role)


def test_a_role_judges_only_on_behalf_of_somebody() -> None:
    with pytest.raises(UsageError, match="but none is named"):
        CachedEntailment(RoleEntailment("judge"), "role/judge").predict([("a", "b")])


def test_the_estimate_knows_the_prompt_and_how_often_it_is_asked() -> None:
    prompt = role_entailment._PROMPT.format(premise="", hypothesis="")
    assert (len(prompt.encode()), role_entailment._TRIES) == (PROMPT_BYTES, CALLS_A_PAIR[1])

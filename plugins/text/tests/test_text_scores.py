"""Scores of texts: equal to what papers, READMEs and the libraries themselves say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.plugin import Parsed, Registry, SampleKey, Score, ScorerInput
from creval.plugin.parsing import squad_text
from creval.scoring.matching import ExactMatch, Includes
from creval.types.sample import Condition
from creval_text.plugin import creval_components
from creval_text.text_scores import Bleu, Chrf, EditDistance, Rouge, TokenF1

KEY = SampleKey("t", "d", "default", 0)
CONTEXT: Any = None


def scored(scorer: Any, answers: str | Sequence[Any], wanted: Any) -> Score:
    """Score a sample of these answers."""
    values = [answers] if isinstance(answers, str) else [*answers]
    item = ScorerInput(
        KEY, {"target": wanted}, Condition("default"), values, [*map(str, values)], {}, [*map(Parsed, values)]
    )
    (score,) = scorer.score([item], CONTEXT)
    assert isinstance(score, Score)
    return score


@pytest.mark.parametrize(
    ("answer", "wanted", "f1", "exact"),
    [
        ("the Norman dynasty", ["Norman dynasty", "Normans"], 1.0, 1.0),
        ("A cat sat", "cats sat", 0.5, 0.0),
        ("in the 10th century", ["10th century", "10th and 11th centuries"], 0.8, 0.0),
        ("France.", "France", 1.0, 1.0),
        ("the", "an", 1.0, 1.0),
        ("the", "cat", 0.0, 0.0),
        ("cat cat cat", "cat", 0.5, 0.0),
    ],
)
def test_squad_f1_and_exact_match(answer: str, wanted: Any, f1: float, exact: float) -> None:
    assert scored(TokenF1(), answer, wanted).scores["token_f1"] == pytest.approx(f1)
    assert scored(ExactMatch(normalize="squad"), answer, wanted).scores == {"exact_match": exact}


def test_normalised_texts_are_found_within_others() -> None:
    assert scored(Includes(normalize="squad"), "It is the Eiffel-Tower!", "an EiffelTower").scores == {"includes": 1.0}
    assert scored(ExactMatch(), "The cat", "cat").scores == {"exact_match": 0.0}


def test_precision_and_recall_are_those_of_the_best_text() -> None:
    found = scored(TokenF1(), "red small boat", ["boat", "red boat"]).scores
    assert found == {"token_f1": pytest.approx(0.8), "token_precision": pytest.approx(2 / 3), "token_recall": 1.0}
    assert scored(TokenF1(normalize="none"), "The boat", "the boat").scores["token_f1"] == 0.5


def squad_reference(prediction: str, truth: str) -> float:
    """F1 as the evaluation script of SQuAD 2.0 computes it, written after its description."""
    import collections

    said, wanted = squad_text(prediction).split(), squad_text(truth).split()
    if not said or not wanted:
        return float(said == wanted)
    same = sum((collections.Counter(said) & collections.Counter(wanted)).values())
    return 0.0 if same == 0 else 2 * (same / len(said)) * (same / len(wanted)) / (same / len(said) + same / len(wanted))


@settings(max_examples=60)
@given(st.text(alphabet="ab the.,", min_size=1, max_size=30), st.text(alphabet="ab the.,", min_size=1, max_size=30))
def test_f1_lies_between_0_and_1_and_is_symmetric(one: str, other: str) -> None:
    if one.strip() and other.strip():
        found = scored(TokenF1(), one, other).scores["token_f1"]
        assert found == pytest.approx(squad_reference(one, other))
        assert 0 <= found <= 1
        assert found == pytest.approx(scored(TokenF1(), other, one).scores["token_f1"])


def test_rouge_as_its_readme_prints_it() -> None:
    found = scored(
        Rouge(stemmer=True),
        "The quick brown dog jumps on the log.",
        "The quick brown fox jumps over the lazy dog",
    ).scores
    assert found["rouge1"] == pytest.approx(2 * 0.75 * (6 / 9) / (0.75 + 6 / 9))
    assert found["rougeL"] == pytest.approx(2 * 0.625 * (5 / 9) / (0.625 + 5 / 9))


def test_rouge_of_other_scripts() -> None:
    assert scored(Rouge(), "кошка сидит", "кошка спит").scores["rouge1"] == 0.0
    assert scored(Rouge(words="unicode"), "кошка сидит", "кошка спит").scores["rouge1"] == 0.5


SYSTEM = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
REFERENCES = [
    ["The dog bit the man.", "The dog had bit the man."],
    ["It was not unexpected.", "No one was surprised."],
    ["The man bit him first.", "The man had bitten the dog."],
]


def test_bleu_and_chrf_are_sacrebleus() -> None:
    import sacrebleu

    for said, wanted in zip(SYSTEM, REFERENCES, strict=True):
        assert scored(Bleu(), said, wanted).scores["bleu"] == pytest.approx(sacrebleu.sentence_bleu(said, wanted).score)
        assert scored(Chrf(), said, wanted).scores["chrf"] == pytest.approx(sacrebleu.sentence_chrf(said, wanted).score)
        plus = sacrebleu.sentence_chrf(said, wanted, word_order=2).score
        assert scored(Chrf(word_order=2), said, wanted).scores["chrf"] == pytest.approx(plus)
    assert scored(Bleu(), SYSTEM[0], REFERENCES[0]).scores["bleu"] == pytest.approx(100.0)


@pytest.mark.parametrize(
    ("one", "other", "distance", "similarity"),
    [("kitten", "sitting", 3, 4 / 7), ("lewenstein", "levenshtein", 2, 1 - 2 / 11), ("boat", "boat", 0, 1.0)],
)
def test_edit_distance(one: str, other: str, distance: int, similarity: float) -> None:
    found = scored(EditDistance(), one, other).scores
    assert found == {"edit_distance": distance, "edit_similarity": pytest.approx(similarity)}
    assert scored(EditDistance(), one.upper(), other).scores["edit_distance"] >= distance
    assert scored(EditDistance(ignore_case=True), one.upper(), other).scores["edit_distance"] == distance


def test_several_answers() -> None:
    assert scored(EditDistance(), ["boat", "goat"], "boat").scores["edit_distance"] == 0.5
    best = scored(EditDistance(reduce="best"), ["boat", "goat"], "boat").scores
    assert best == {"edit_distance": 0.0, "edit_similarity": 1.0}


@pytest.mark.parametrize("scorer", [TokenF1(), Rouge(), Bleu(), Chrf(), EditDistance()], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("answer", ["\x00", "()" * 500, "*" * 5000, "\ud800", "🌊" * 50, "a" * 199_999, "\n\n \t."])
def test_hostile_answers_get_a_score(scorer: Any, answer: str) -> None:
    found = scored(scorer, answer, ["a boat", "the sea"])
    assert found.failure is None
    assert all(0 <= value <= 200_000 for value in found.scores.values())


@pytest.mark.parametrize("scorer", [TokenF1(), Rouge(), Bleu(), Chrf(), EditDistance()], ids=lambda s: type(s).__name__)
def test_what_cannot_be_compared_is_said(scorer: Any) -> None:
    assert "at most 200000 are compared" in str(scored(scorer, "a" * 200_001, "boat").failure)
    assert scored(scorer, [5], "boat").errored
    assert "has no field 'target'; it has word" in str(scorer.doc_fault({"word": 1}))
    assert "is neither a text" in str(scorer.doc_fault({"target": []}))
    assert scorer.doc_fault({"target": ["a", "b"]}) is None


def test_a_table_that_would_not_end_is_not_begun() -> None:
    assert "too long to be compared" in str(scored(Rouge(), "a " * 90_000, "b " * 2_000).failure)


def test_the_best_of_several_passes_over_what_cannot_be_read() -> None:
    registry = Registry()
    creval_components(registry.scoped("text"))
    for name in ("token_f1", "rouge", "bleu", "chrf", "edit_distance"):
        component = registry.get("scorer", name)
        assert component.scorer_traits({"reduce": "best"}).reads_some
        assert not component.scorer_traits({}).reads_some

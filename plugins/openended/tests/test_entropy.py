"""Classes of meaning and their entropy: worked values, bounds, invariances, counts of predictions."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval_openended.entropy.estimators import class_weights, entropies, entropy, mean_logprob
from creval_openended.entropy.partition import Pair, partition_all, relabelled
from creval_openended.entropy.surface import distinct, mean_cosine, self_bleu, self_bleu_of_steps


class Table:
    """Entailment by a table of pairs; counts what it is asked."""

    def __init__(self, holds: set[Pair]) -> None:
        self.holds, self.asked = holds, []
        self.asked: list[Pair]

    async def __call__(self, pairs: Sequence[Pair]) -> list[bool]:
        self.asked += pairs
        return [pair in self.holds for pair in pairs]


def partition(texts: Sequence[str], table: Table) -> list[int]:
    return asyncio.run(partition_all([texts], table))[0]


def greedy(texts: Sequence[str], holds: set[Pair]) -> list[int]:
    """The definition to the letter: each text in turn is compared with every founder."""
    founders: list[str] = []
    labels = []
    for text in texts:
        for number, founder in enumerate(founders):
            if text == founder or ((text, founder) in holds and (founder, text) in holds):
                labels.append(number)
                break
        else:
            labels.append(len(founders))
            founders.append(text)
    return labels


TASKS = ("macgyver", "bookmia", "hypogen")


def test_worked_values_of_the_authors_functions(parity: Any) -> None:
    """Ten candidates of equal and of falling weight, six in three classes, four with one pair."""
    falling = [-0.1 * i for i in range(1, 11)]
    six = [mean_logprob(each) for each in ([-0.2, -0.4], [-0.6], [-0.1, -0.1, -0.7], [-1.2], [-0.8, -1], [-2.3])]
    four = [mean_logprob(each) for each in ([-0.1, -0.3], [-0.5] * 3, [-1], [-2, -0.4])]
    worked = [
        (entropies(range(10), [-1.0] * 10), 2.302585093),
        (entropies(range(10), falling), 2.262349803),
        (entropies([0, 0, 0, 1, 1, 2], six), 0.704051877),
        (entropies([0, 0, 1, 2], four), 0.846317182),
    ]
    pairs = [(found.semantic or 0.0, theirs) for found, theirs in worked]
    assert all(ours == pytest.approx(theirs, abs=1e-9) for ours, theirs in pairs)
    against = (
        "semantic entropy of worked sets of candidates by the authors' own functions, "
        "github.com/stonkmem/MacGyverSemanticProbing at b2a17dd; no answers are published"
    )
    for task in TASKS:
        parity.add(task, {"against": against}, pairs, 1e-9)


def test_ten_equal_weights_in_ten_classes() -> None:
    assert entropies(range(10), [-1.0] * 10).semantic == pytest.approx(2.302585093, abs=1e-9)
    falling = entropies(range(10), [-0.1 * i for i in range(1, 11)])
    assert falling.semantic == pytest.approx(2.262349803, abs=1e-9)


def test_six_candidates_in_three_classes() -> None:
    tokens = [[-0.2, -0.4], [-0.6], [-0.1, -0.1, -0.7], [-1.2], [-0.8, -1], [-2.3]]
    found = entropies([0, 0, 0, 1, 1, 2], [mean_logprob(each) for each in tokens])
    assert found.semantic == pytest.approx(0.704051877, abs=1e-9)
    assert found.count == pytest.approx(1.011404265, abs=1e-9)
    assert (found.candidates, found.classes) == (6, 3)


def test_four_candidates_with_one_pair() -> None:
    tokens = [[-0.1, -0.3], [-0.5] * 3, [-1], [-2, -0.4]]
    found = entropies([0, 0, 1, 2], [mean_logprob(each) for each in tokens])
    assert found.semantic == pytest.approx(0.846317182, abs=1e-9)


def test_entailment_one_way_joins_nothing() -> None:
    assert partition(["a", "b", "c", "d"], Table({("a", "b"), ("c", "d"), ("d", "c")})) == [0, 1, 2, 2]


def test_predictions_are_as_few_as_can_be() -> None:
    texts = [f"t{i}" for i in range(10)]
    unlike, alike = Table(set()), Table({(a, b) for a in texts for b in texts})
    assert partition(texts, unlike) == list(range(10)) and len(unlike.asked) == 45
    assert partition(texts, alike) == [0] * 10 and len(alike.asked) == 18
    same = Table(set())
    assert partition(["x"] * 10, same) == [0] * 10 and same.asked == []


def test_steps_that_ask_for_one_pair_share_its_prediction() -> None:
    table = Table(set())
    assert asyncio.run(partition_all([["a", "b"], ["a", "b"], []], table)) == [[0, 1], [0, 1], []]
    assert table.asked == [("a", "b")]


TEXTS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=9)
RELATION = st.sets(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")))


@given(TEXTS, RELATION)
def test_the_partition_is_that_of_the_definition(texts: list[str], holds: set[Pair]) -> None:
    assert partition(texts, Table(holds)) == greedy(texts, holds)


CANDIDATES = st.lists(st.tuples(st.integers(0, 4), st.floats(-60, 0)), min_size=1, max_size=10)


@given(CANDIDATES)
def test_bounds_and_the_naive_entropy(candidates: list[tuple[int, float]]) -> None:
    labels = relabelled([label for label, _ in candidates])
    found = entropies(labels, [logprob for _, logprob in candidates])
    assert found.semantic is not None and found.naive is not None
    assert -1e-12 <= found.semantic <= math.log(found.classes) + 1e-9
    assert found.classes <= found.candidates and found.naive >= found.semantic - 1e-9
    assert 0 <= found.count <= math.log(found.classes) + 1e-9
    assert found.relative is None if found.candidates == 1 else 0 <= found.relative <= 1 + 1e-9


@given(CANDIDATES, st.randoms())
def test_the_order_of_candidates_changes_nothing(candidates: list[tuple[int, float]], random: object) -> None:
    shuffled = list(candidates)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    values = [
        entropies(relabelled([label for label, _ in each]), [logprob for _, logprob in each])
        for each in (candidates, shuffled)
    ]
    for one, other in pairwise(values):
        assert one.semantic == pytest.approx(other.semantic, abs=1e-9)
        assert one.naive == pytest.approx(other.naive, abs=1e-9)


@given(CANDIDATES, st.floats(-500, 0))
def test_a_common_factor_of_all_probabilities_changes_nothing(
    candidates: list[tuple[int, float]], shift: float
) -> None:
    labels = relabelled([label for label, _ in candidates])
    logprobs = [logprob for _, logprob in candidates]
    moved = entropies(labels, [logprob + shift for logprob in logprobs])
    assert moved.semantic == pytest.approx(entropies(labels, logprobs).semantic, abs=1e-8)


def test_a_single_candidate_has_entropy_zero_and_none_has_none() -> None:
    assert entropies([0], [-3.0]).semantic == 0 and entropies([0], None).relative is None
    with pytest.raises(ValueError, match="without usable candidates"):
        entropies([], [])
    with pytest.raises(ValueError, match="without tokens"):
        mean_logprob([])


def test_without_log_probabilities_there_is_the_count_alone() -> None:
    found = entropies([0, 0, 1], None)
    assert found.semantic is None and found.naive is None
    assert found.count == pytest.approx(entropy(class_weights([0, 0, 1])))
    assert found.relative == pytest.approx(found.count / math.log(3))


def test_self_bleu_and_distinct_by_the_stated_recipe() -> None:
    texts = [
        "tie the rope to the old bucket",
        "tie the rope to the new bucket",
        "cut the cardboard into a small circle",
    ]
    assert self_bleu(texts) == pytest.approx(0.439983, abs=1e-6)
    assert distinct(texts, 1) == pytest.approx(13 / 21) and distinct(texts, 2) == pytest.approx(14 / 18)
    assert self_bleu(["alone"]) is None and distinct([""], 1) is None


@given(st.lists(st.text(alphabet="ab c", max_size=14), min_size=2, max_size=6))
def test_self_bleu_is_that_of_nltk(texts: list[str]) -> None:
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    words = [text.lower().split() for text in texts]
    smoothing = SmoothingFunction().method1
    expected = [
        sentence_bleu([*words[:i], *words[i + 1 :]], words[i], smoothing_function=smoothing) for i in range(len(words))
    ]
    assert self_bleu(texts) == pytest.approx(sum(expected) / len(expected), abs=1e-9)


def test_self_bleu_of_steps_is_that_of_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    steps = [
        [" ".join(chance.choices("abcdefg", k=chance.randint(0, 9))) for _ in range(chance.randint(0, 6))]
        for _ in range(60)
    ]
    alone = [self_bleu(texts) for texts in steps]
    assert None in alone
    assert self_bleu_of_steps(steps) == pytest.approx(alone, abs=1e-12)
    monkeypatch.setattr("creval_openended.entropy.surface._MOST_KINDS", 10**4)  # as if there were many words
    assert self_bleu_of_steps(steps) == pytest.approx(alone, abs=1e-12)
    assert self_bleu_of_steps([]) == []


def test_mean_cosine_over_pairs() -> None:
    assert mean_cosine(np.array([[1.0, 0], [0, 2], [3, 0]])) == pytest.approx(1 / 3)
    assert mean_cosine(np.ones((1, 3))) is None

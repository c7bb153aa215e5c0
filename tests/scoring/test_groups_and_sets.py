"""Groups of reworded questions, sets of answers, and several answers that become one: against plain definitions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.scoring.matching import ExactMatch, Numeric
from creval.scoring.ratio import All, Consistency
from creval.scoring.sets import Distinct, SetDistance
from creval.types.components import ScorerInput
from creval.types.sample import Condition, SampleKey, Status

GROUPS = st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=5), min_size=1, max_size=6)


@given(GROUPS)
def test_all_is_the_share_of_groups_that_are_right_throughout(groups: list[list[float]]) -> None:
    expected = np.mean([all(value >= 1 for value in group) for group in groups])
    assert All().value([np.array(group) for group in groups]) == pytest.approx(expected)


@given(GROUPS)
def test_consistency_is_the_share_of_pairs_that_end_alike(groups: list[list[float]]) -> None:
    pairs = [
        np.mean([(one >= 1) == (other >= 1) for one, other in itertools.combinations(group, 2)])
        for group in groups
        if len(group) > 1
    ]
    found = Consistency().value([np.array(group) for group in groups])
    assert found == (pytest.approx(np.mean(pairs)) if pairs else None)


def items(*answers: Sequence[Any], target: object = None) -> list[ScorerInput]:
    return [
        ScorerInput(
            SampleKey("t", "d", "default", repeat),
            {"target": target},
            Condition("default"),
            list(values),
            list(map(str, values)),
            {},
        )
        for repeat, values in enumerate(answers)
    ]


class Plane:
    """An embedding of three texts, and the context that holds it."""

    vectors: ClassVar = {"east": [1.0, 0.0], "north": [0.0, 2.0], "west": [-3.0, 0.0]}

    def resource(self, name: str) -> Plane:
        return self

    def embed(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        return np.array([self.vectors[text] for text in texts], dtype=np.float32)


@given(st.lists(st.sampled_from(["A sun.", "a  sun", "moon", "sea!"]), min_size=1, max_size=8))
def test_distinct_is_the_number_of_different_answers_over_that_of_all(answers: list[str]) -> None:
    scores = Distinct().score(items(*([answer] for answer in answers)), Plane())  # type: ignore[arg-type]
    plain = {answer.lower().strip(".!").replace("  ", " ") for answer in answers}
    assert np.mean([score.scores["distinct"] for score in scores]) == pytest.approx(len(plain) / len(answers))


@given(st.lists(st.sampled_from(sorted(Plane.vectors)), min_size=2, max_size=8))
def test_set_distance_is_the_mean_over_all_pairs(answers: list[str]) -> None:
    scores = SetDistance().score(items(*([answer] for answer in answers)), Plane())  # type: ignore[arg-type]
    angle = {"east": 0.0, "north": np.pi / 2, "west": np.pi}
    pairs = [1 - np.cos(angle[one] - angle[other]) for one, other in itertools.combinations(answers, 2)]
    assert np.mean([score.scores["set_distance"] for score in scores]) == pytest.approx(np.mean(pairs), abs=1e-6)


def test_a_single_answer_has_no_distance_and_says_so() -> None:
    (score,) = SetDistance().score(items(["east"]), Plane())  # type: ignore[arg-type]
    assert score.missing["set_distance"].status is Status.UNPARSED


@pytest.mark.parametrize(
    ("reduce", "answers", "score"),
    [
        ("mean", ["8", "4", "8", "4"], 0.5),
        ("best", ["4", "4", "8"], 1.0),
        ("best", ["4", "4"], 0.0),
        ("majority", ["4", "8", "8.0"], 1.0),
        ("majority", ["4", "4", "8"], 0.0),
        ("majority", ["8", "4"], 1.0),
        ("majority", ["x", "8", "y"], 1.0),
    ],
)
def test_several_answers_become_one(reduce: str, answers: list[str], score: float) -> None:
    (found,) = Numeric(reduce=reduce).score(items(answers, target=8), Plane())  # type: ignore[arg-type]
    assert found.scores == {"numeric": score}


def test_answers_of_which_none_can_be_compared_fail_the_sample() -> None:
    (found,) = Numeric(reduce="best").score(items(["x", "y"], target=8), Plane())  # type: ignore[arg-type]
    assert not found.scores
    assert found.failure is not None and not found.errored


def test_the_majority_goes_by_what_counts_as_the_same() -> None:
    scorer = ExactMatch(reduce="majority", ignore_case=True)
    (found,) = scorer.score(items(["Sun", "moon", "SUN"], target="sun"), Plane())  # type: ignore[arg-type]
    assert found.scores == {"exact_match": 1.0}

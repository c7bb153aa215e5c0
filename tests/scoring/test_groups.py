"""Groups of reworded questions, and several answers that become one: against plain definitions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.scoring.matching import ExactMatch, Numeric
from creval.scoring.ratio import All, Consistency
from creval.types.components import ScorerInput
from creval.types.sample import Condition, SampleKey

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


NO_CONTEXT: Any = None


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
    (found,) = Numeric(reduce=reduce).score(items(answers, target=8), NO_CONTEXT)
    assert found.scores == {"numeric": score}


def test_answers_of_which_none_can_be_compared_fail_the_sample() -> None:
    (found,) = Numeric(reduce="best").score(items(["x", "y"], target=8), NO_CONTEXT)
    assert not found.scores
    assert found.failure is not None and not found.errored


def test_the_majority_goes_by_what_counts_as_the_same() -> None:
    scorer = ExactMatch(reduce="majority", ignore_case=True)
    (found,) = scorer.score(items(["Sun", "moon", "SUN"], target="sun"), NO_CONTEXT)
    assert found.scores == {"exact_match": 1.0}

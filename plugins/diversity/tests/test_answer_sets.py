"""Scores of answers as a set: against plain definitions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.plugin import Condition, SampleKey, ScorerInput, Status
from creval_diversity.answer_sets import Distinct, SetDistance


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

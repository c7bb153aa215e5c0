"""Classes and utility: every prompt of the authors' stored run, the rule for short answers, the greedy order."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from creval_diversity.classes import Pair, classes_of, count, quality_of_reward, same_by_words, utility


@pytest.fixture(scope="module")
def stored(reference_data: Path) -> list[dict[str, Any]]:
    file = reference_data / "noveltybench" / "gemini-1.5-pro_scores.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_distinct_and_utility_of_every_prompt(stored: list[dict[str, Any]], reference_data: Path) -> None:
    assert len(stored) == 100
    for row in stored:
        found = count(row["partition"])
        assert found == len(row["partition_scores"]) == row["distinct"] + 1  # the file says max(partition)
        qualities = [row["partition_scores"][each] for each in row["partition"]]
        assert utility(row["partition"], qualities) == pytest.approx(row["utility"], abs=1e-12)
    summary = json.loads((reference_data / "noveltybench" / "gemini-1.5-pro_summary.json").read_text())
    mean = fmean(count(row["partition"]) for row in stored)
    assert mean == pytest.approx(1.83) and mean - 1 == pytest.approx(summary["mean_distinct"])
    whole = fmean(utility(row["partition"], [row["partition_scores"][i] for i in row["partition"]]) for row in stored)
    assert whole == pytest.approx(summary["mean_utility"])


def test_the_stored_classes_follow_from_their_own_verdicts(stored: list[dict[str, Any]]) -> None:
    """Asked long answers with the stored verdicts, the greedy order gives the stored classes."""
    for row in stored:
        texts = [f"answer {place} of more than five words" for place in range(10)]
        of = dict(zip(texts, row["partition"], strict=True))

        async def same(pairs: Sequence[Pair], of: dict[str, int] = of) -> list[bool]:
            return [of[one] == of[other] for one, other in pairs]

        assert asyncio.run(classes_of(texts, same)) == row["partition"]


def test_the_stored_run_was_made_without_the_rule_for_short_answers(stored: list[dict[str, Any]]) -> None:
    against = 0
    for row in stored:
        first = {each: row["generations"][row["partition"].index(each)] for each in set(row["partition"])}
        against += any(
            same_by_words(text, answer) not in (None, each == own)
            for answer, own in zip(row["generations"], row["partition"], strict=True)
            for each, text in first.items()
            if each <= own
        )
    assert against == 16


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Tom Hanks", "tom cruise", True),  # 1 x 2 >= 2
        ("a b c", "a d e", False),  # 2 < 3
        ("a b c d e", "a b x", False),  # 4 < 5
        ("a b c d e", "a b c", True),
        ("a b c d e f", "a b c d e f", None),
        ("a", "a b c d e f", None),
        (" Blue.\n", "blue.", True),
        ("a a a", "a", False),  # a word counts once, the length does not
    ],
)
def test_short_answers(one: str, other: str, expected: bool | None) -> None:
    assert same_by_words(one, other) is expected
    assert same_by_words(other, one) is expected


def test_each_answer_is_compared_with_the_first_of_a_class_only() -> None:
    """A chain of neighbours is no class: 0 and 2 differ although 1 is the same as both."""
    texts = [f"{'long ' * 6}{number}" for number in range(4)]
    asked: list[Pair] = []

    async def neighbours(pairs: Sequence[Pair]) -> list[bool]:
        asked.extend(pairs)
        return [abs(int(one[-1]) - int(other[-1])) == 1 for one, other in pairs]

    assert asyncio.run(classes_of(texts, neighbours)) == [0, 0, 1, 1]
    assert len(asked) == 4  # 0 with three, 2 with one


def test_utility_by_hand() -> None:
    assert utility([0, 0, 1], [5, 9, 10]) == pytest.approx((5 + 0.64 * 10) / (1 + 0.8 + 0.64))
    assert utility([None, 0], [0, 10], 0.5) == pytest.approx(0.5 * 10 / 1.5)
    assert utility([None], [0]) == 0


def test_rewards_become_qualities() -> None:
    assert [quality_of_reward(reward) for reward in (-9, -7.71875, -7.7, -5.2, -2.046875, 3)] == [1, 1, 2, 6, 9, 10]
    marks = [quality_of_reward(-8 + 0.01 * step) for step in range(700)]
    assert set(marks) == set(range(1, 11)) and all(one <= other for one, other in pairwise(marks))

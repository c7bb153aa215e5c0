"""Classes of answers, and utility over them, as NoveltyBench (arXiv:2504.05228) defines them.

Answers are compared in their original order. Each joins the class of the first earlier answer that began a class and
is equivalent to it; else it begins a class. Two answers of at most five words are equivalent if twice the number of
shared words reaches the longer length. Longer answers are compared by an entailment or embedding model.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

__all__ = ["PATIENCE", "classes_of", "count", "quality_of_reward", "same_by_words", "utility"]

PATIENCE = 0.8
"""The chance that a user asks for one more answer."""

_FEW_WORDS = 5
_THRESHOLDS = (-7.71875, -6.28125, -6.0, -5.71875, -5.5, -5.0, -4.375, -3.4375, -2.046875)

Pair = tuple[str, str]
Same = Callable[[Sequence[Pair]], Awaitable[Sequence[bool]]]
"""Decides for each (first answer of a class, later answer) whether they are equivalent; called with many pairs."""


def same_by_words(one: str, other: str) -> bool | None:
    """Return whether two short answers are equivalent by their words; None if one has more than five."""
    words, others = one.strip().lower().split(), other.strip().lower().split()
    longer = max(len(words), len(others))
    return None if longer > _FEW_WORDS else len(set(words) & set(others)) * 2 >= longer


async def classes_of(answers: Sequence[str], same: Same) -> list[int]:
    """Return the class of each answer, numbered from 0 in the order of their first members."""
    found = [-1] * len(answers)
    number = 0
    for first, answer in enumerate(answers):
        if found[first] >= 0:
            continue
        found[first] = number
        rest = [place for place in range(first + 1, len(answers)) if found[place] < 0]
        verdicts = {place: same_by_words(answer, answers[place]) for place in rest}
        unclear = [place for place in rest if verdicts[place] is None]
        if unclear:
            asked = await same([(answer, answers[place]) for place in unclear])
            verdicts |= dict(zip(unclear, map(bool, asked), strict=True))
        for place in rest:
            if verdicts[place]:
                found[place] = number
        number += 1
    return found


def count(classes: Sequence[int]) -> int:
    """Return the number of classes, NoveltyBench's distinct_k; the `distinct` in its files is one less."""
    return len(set(classes))


def utility(classes: Sequence[int | None], qualities: Sequence[float], patience: float = PATIENCE) -> float:
    """Return the mean quality of the answers, the i-th weighted by patience**i; 0 for an answer of an earlier class.

    A class of None means no valid answer, which also has quality 0.
    """
    seen: set[int] = set()
    total = weights = 0.0
    for place, (each, quality) in enumerate(zip(classes, qualities, strict=True)):
        weight = patience**place
        weights += weight
        if each is not None and each not in seen:
            seen.add(each)
            total += weight * quality
    return total / weights


def quality_of_reward(reward: float) -> int:
    """Return the quality from 1 to 10 of a raw reward of Skywork-Reward-Gemma-2-27B-v0.2, by the paper's thresholds."""
    return 1 + sum(threshold < reward for threshold in _THRESHOLDS)

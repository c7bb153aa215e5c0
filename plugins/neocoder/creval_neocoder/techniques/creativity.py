"""The paper's formulas over sets of techniques (Section 4, Appendix B.1), for one program or problem each."""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = [
    "follows",
    "human_convergent",
    "human_divergent",
    "human_neogauge",
    "new_share",
    "new_share_at",
    "union_of",
]


def union_of(lists: Sequence[Collection[str]]) -> frozenset[str]:
    """Return all techniques of several programs: T-hat of Eq. 3 over the human solutions to a problem."""
    return frozenset(name for techniques in lists for name in techniques)


def follows(techniques: Collection[str], constraints: Collection[str]) -> bool:
    """Return whether a program uses none of the forbidden techniques (Eq. 2); true without any technique."""
    return not set(techniques) & set(constraints)


def new_share(techniques: Sequence[str], human: Collection[str], listed: bool = False) -> float:
    """Return |T minus T-hat| / |T| (Eq. 3), 0 to 1; 0 if there is no technique.

    `listed`: divide by the length of the list as the released code does, which may contain duplicates.
    """
    distinct = set(techniques)
    if not distinct:
        return 0.0
    return len(distinct - set(human)) / (len(techniques) if listed else len(distinct))


def human_convergent(solutions: Sequence[Collection[str]], constraints: Collection[str]) -> float:
    """Return the share of a problem's human solutions that follow its constraints (Eq. 5, one problem)."""
    return sum(follows(techniques, constraints) for techniques in solutions) / len(solutions)


def new_share_at(solutions: Sequence[Sequence[str]], at: int) -> float:
    """Return the share of the techniques of solution `at` that no other solution to the problem uses (L-hat, Eq. 6)."""
    return new_share(solutions[at], union_of([*solutions[:at], *solutions[at + 1 :]]))


def human_divergent(solutions: Sequence[Sequence[str]]) -> float:
    """Return the mean share of techniques that no other solution to the problem uses (Eq. 6, one problem)."""
    return sum(new_share_at(solutions, at) for at in range(len(solutions))) / len(solutions)


def human_neogauge(solutions: Sequence[Sequence[str]], constraints: Collection[str]) -> tuple[float, float]:
    """Return NeoGauge of the human solutions to one problem, each against the others: the mean, and that of the best.

    All of them are accepted, so one that follows the constraints scores its new share, and any other 0.
    """
    values = [new_share_at(solutions, at) * follows(names, constraints) for at, names in enumerate(solutions)]
    return sum(values) / len(values), max(values)

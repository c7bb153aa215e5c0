"""The paper's formulas over sets of techniques (Section 4, Appendix B.1), for one program or problem each."""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["follows", "human_convergent", "human_divergent", "new_share", "union_of"]


def union_of(lists: Sequence[Collection[str]]) -> frozenset[str]:
    """Return all techniques of several programs: T-hat of Eq. 3 over the human solutions to a problem."""
    return frozenset(name for techniques in lists for name in techniques)


def follows(techniques: Collection[str], constraints: Collection[str]) -> bool:
    """Whether a program uses none of the forbidden techniques (Eq. 2); one without any technique follows."""
    return not set(techniques) & set(constraints)


def new_share(techniques: Sequence[str], human: Collection[str], listed: bool = False) -> float:
    """Return |T minus T-hat| / |T| (Eq. 3), 0 to 1; 0 where there is no technique.

    `listed`: divide by the length of the list as the released code does, in which a name may stand twice.
    """
    distinct = set(techniques)
    if not distinct:
        return 0.0
    return len(distinct - set(human)) / (len(techniques) if listed else len(distinct))


def human_convergent(solutions: Sequence[Collection[str]], constraints: Collection[str]) -> float:
    """Return the share of a problem's human solutions that follow its constraints (Eq. 5, one problem)."""
    return sum(follows(techniques, constraints) for techniques in solutions) / len(solutions)


def human_divergent(solutions: Sequence[Sequence[str]]) -> float:
    """Return the mean share of techniques that no other solution to the problem uses (Eq. 6, one problem)."""
    shares = []
    for index, techniques in enumerate(solutions):
        others = union_of([*solutions[:index], *solutions[index + 1 :]])
        shares.append(new_share(techniques, others))
    return sum(shares) / len(shares)

"""Several runs in order, and which of them cannot be told apart."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

__all__ = ["letters", "pairs"]

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def letters(count: int, different: Collection[tuple[int, int]]) -> list[str]:
    """Return for each of `count` runs its groups: runs that share a letter cannot be told apart.

    `different` holds the pairs (i < j) that can. The letters are those of the compact display of Piepho (2004,
    J. Comput. Graph. Stat. 13, 456-466, "insert and absorb"): each group is as large as it can be, and each pair that
    is not told apart shares one. Groups are named in the order of their first run.
    """
    groups: list[frozenset[int]] = [frozenset(range(count))]
    for one, other in sorted(different):
        split = []
        for group in groups:
            if one in group and other in group:
                split += [group - {one}, group - {other}]
            else:
                split.append(group)
        groups = [group for group in dict.fromkeys(split) if not any(group < larger for larger in split)]
    ordered = sorted(groups, key=sorted)
    return ["".join(_letter(place) for place, group in enumerate(ordered) if run in group) for run in range(count)]


def _letter(place: int) -> str:
    """`a` to `z`, then `a1` ..."""
    return (
        _ALPHABET[place] if place < len(_ALPHABET) else f"{_ALPHABET[place % len(_ALPHABET)]}{place // len(_ALPHABET)}"
    )


def pairs(count: int) -> Sequence[tuple[int, int]]:
    """Return all pairs of numbers below `count`, the smaller first."""
    return list(combinations(range(count), 2))

"""Ranking by comparisons: bubble sort as in the paper (C.6.2), or merge sort with far fewer comparisons.

With a judge that is not transitive the two rank differently, so the result names the method.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeVar

__all__ = ["Method", "most_comparisons", "ranked"]

Method = Literal["bubble", "merge"]
ItemT = TypeVar("ItemT")

Wins = Callable[[ItemT, ItemT], Awaitable[bool]]
"""Return whether the first is before the second."""


async def ranked(items: Sequence[ItemT], wins: Wins[ItemT], method: Method) -> list[ItemT]:
    """Return the items, best first. Bubble sort ends after a pass that changes nothing."""
    return await (_bubble if method == "bubble" else _merge)(list(items), wins)


def most_comparisons(count: int, method: Method) -> int:
    """Return the maximum of comparisons to rank `count` items: 1,225 or 237 for 50, 435 or 119 for 30."""
    if method == "bubble":
        return count * (count - 1) // 2
    if count < 2:
        return 0
    left = count // 2
    return most_comparisons(left, method) + most_comparisons(count - left, method) + count - 1


async def _bubble(items: list[ItemT], wins: Wins[ItemT]) -> list[ItemT]:
    for end in range(len(items) - 1, 0, -1):
        changed = False
        for place in range(end):
            if await wins(items[place + 1], items[place]):
                items[place], items[place + 1] = items[place + 1], items[place]
                changed = True
        if not changed:
            break
    return items


async def _merge(items: list[ItemT], wins: Wins[ItemT]) -> list[ItemT]:
    if len(items) < 2:
        return items
    half = len(items) // 2
    left, right = await _merge(items[:half], wins), await _merge(items[half:], wins)
    merged: list[ItemT] = []
    while left and right:
        merged.append(right.pop(0) if await wins(right[0], left[0]) else left.pop(0))
    return merged + left + right

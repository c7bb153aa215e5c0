"""Sets of small numbers as bit masks."""

from __future__ import annotations

__all__ = ["bits"]


def bits(mask: int) -> list[int]:
    """Return the numbers of the bits set in `mask`, ascending."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found

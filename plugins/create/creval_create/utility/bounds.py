"""Upper bound of the utility of a set of paths. Imports nothing heavy."""

from __future__ import annotations

__all__ = ["most"]

STRONGEST = 5.0


def most(patience: float, discount: str = "equation") -> float | None:
    """Return the upper bound for any number of paths (Eq. 1): 5 / (1 - gamma), None (no bound) at gamma 1.

    If the second path is not discounted either (`released`), it is 5 more.
    """
    if patience >= 1.0:
        return None
    left = round(1.0 - patience, 12)
    return STRONGEST / left + (STRONGEST if discount == "released" else 0.0)

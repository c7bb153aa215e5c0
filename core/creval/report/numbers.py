"""How a number is printed: one rule for all tables."""

from __future__ import annotations

import math

__all__ = ["decimals", "number"]

_TINY = 1e-6


def decimals(value: float) -> int:
    """Return after how many decimals a value is cut: 3 below 10, 2 below 100, else 1.

    A value below 0.01 gets as many more as its first two digits take.
    """
    size = abs(value)
    if not math.isfinite(size) or round(size, 2) >= 100:
        return 1
    if round(size, 3) >= 10:
        return 2
    if size and round(size, 3) < 0.01:
        return 1 - math.floor(math.log10(size))
    return 3


def number(value: float, places: int | None = None) -> str:
    """Render a float with `places` decimals (default: `decimals`); below a millionth with an exponent."""
    if not math.isfinite(value):
        return f"{value:g}"
    if places is None:
        if 0 < abs(value) < _TINY:
            return f"{value:.1e}"
        places = decimals(value)
    return f"{round(value, places) + 0.0:.{places}f}"  # + 0.0: no "-0.000"

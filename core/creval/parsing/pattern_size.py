"""How large a pattern becomes when its counted repeats are written out, as a regex engine may do."""

from __future__ import annotations

import re

__all__ = ["expanded_size"]

_TOKEN = re.compile(
    r"(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<open>\()|(?P<close>\))"
    r"|\{(?P<low>\d*)(?:,(?P<high>\d*))?\}|(?P<other>.)",
    re.DOTALL,
)


def expanded_size(pattern: str) -> int:
    """Return the number of single-character pieces of a pattern, counted repeats multiplied out.

    `a{100}` is 100, `(?:a{100}b){50}` is 50 x 101. An open upper bound counts as its lower bound. The pattern
    must be a valid one of the standard library's `re`.
    """
    sizes = [0]  # of the groups that are open, outermost first
    last = 0  # size of the piece that a following repeat multiplies
    for token in _TOKEN.finditer(pattern):
        kind = token.lastgroup
        if kind == "open":
            sizes.append(0)
            last = 0
        elif kind == "close" and len(sizes) > 1:
            last = sizes.pop() + 1
            sizes[-1] += last
        elif kind in {"low", "high"}:
            times = max(int(token["low"] or 0), int(token["high"] or 0), 1)
            sizes[-1] += last * (times - 1)
            last *= times
        else:
            last = 1
            sizes[-1] += 1
    return sum(sizes)

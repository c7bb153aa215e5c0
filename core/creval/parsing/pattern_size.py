"""What can make a pattern costly: its size with counted repeats written out, and repeats inside repeats."""

from __future__ import annotations

import re
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

__all__ = ["expanded_size", "has_nested_repeats"]

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


def has_nested_repeats(pattern: str) -> bool:
    """Whether a repeat without an upper bound stands inside another one (`(a+)+`), which may try every way to split.

    The pattern must be a valid one of the standard library's `re`.
    """
    return _nested(_parser.parse(pattern), False)


def _nested(items: Any, inside: bool) -> bool:
    """Walk a parsed pattern: operators with whatever they hold."""
    for operator, held in items:
        if operator in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            endless = held[1] is _constants.MAXREPEAT
            if (endless and inside) or _nested(held[2], inside or endless):
                return True
        elif any(_nested(part, inside) for part in _parts(held)):
            return True
    return False


def _parts(held: Any) -> list[Any]:
    """The patterns that an operator holds: of a group, of each branch, of a look-around."""
    if isinstance(held, _parser.SubPattern):
        return [held]
    if isinstance(held, list | tuple):
        return [part for member in held for part in _parts(member)]
    return []

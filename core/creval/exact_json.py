"""JSON by orjson where it certainly gives what `json` gives: the same value read, the same bytes written."""

from __future__ import annotations

import contextlib
from typing import Any

import orjson

__all__ = ["quick_dumps", "quick_loads"]

_MOST_BRACKETS = 500
"""With fewer brackets a text is not nested too deep for json, whose limit is below orjson's."""
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG = b"0" * 20
_LONG_NEGATIVE = b"-" + b"0" * 19
"""Whole numbers that may have more than 64 bits, once every digit is 0: orjson reads them as floats."""
_SAME = frozenset({str, int, bool, type(None)})


def quick_loads(text: bytes) -> Any:
    """Return the value of a JSON text; None if it is null, no JSON, or may be read differently by json."""
    digits = text.translate(_DIGITS)
    if _LONG in digits or _LONG_NEGATIVE in digits or text.count(b"[") + text.count(b"{") >= _MOST_BRACKETS:
        return None
    try:
        return orjson.loads(text)
    except ValueError:
        return None


def quick_dumps(value: Any) -> bytes | None:
    """Return a value as compact JSON in UTF-8; None if json refuses it or may write it differently."""
    with contextlib.suppress(TypeError, RecursionError):
        if _is_same(value):
            return orjson.dumps(value)
    return None


def _is_same(value: Any) -> bool:
    """Whether json writes a value as orjson does, if both accept its texts, keys and whole numbers."""
    kind = type(value)
    if kind is float:  # others have an exponent, whose form differs, or are not finite
        return not value or 1e-4 <= abs(value) < 1e16
    if kind is dict:
        value = value.values()
    elif kind is not list and kind is not tuple:
        return kind in _SAME
    return all(_is_same(each) for each in value if type(each) not in _SAME)

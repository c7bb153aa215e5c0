"""JSON by orjson, where its result is certain to equal that of `json`: the same value, the same bytes."""

from __future__ import annotations

import contextlib
from typing import Any

import orjson

__all__ = ["quick_dumps", "quick_loads"]

_MAX_BRACKETS = 500
"""A text with fewer brackets is not nested too deep for json, whose limit is below that of orjson."""
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_NUMBER = b"0" * 20
_LONG_NEGATIVE_NUMBER = b"-" + b"0" * 19
"""Whole numbers, with zeros for digits, that may need more than 64 bits: orjson reads such numbers as floats."""
_PLAIN_TYPES = frozenset({str, int, bool, type(None)})


def quick_loads(text: bytes) -> Any:
    """Return the value of a JSON text; None if it is null, no JSON, or may be read differently by json."""
    zeroed = text.translate(_DIGITS)
    long = _LONG_NUMBER in zeroed or _LONG_NEGATIVE_NUMBER in zeroed
    if long or text.count(b"[") + text.count(b"{") >= _MAX_BRACKETS:
        return None
    try:
        return orjson.loads(text)
    except ValueError:
        return None


def quick_dumps(value: Any) -> bytes | None:
    """Return a value as compact JSON in UTF-8; None if json refuses it or may write it differently."""
    with contextlib.suppress(TypeError):
        written = orjson.dumps(value)  # refuses values that contain themselves
        if _is_written_alike(value):
            return written
    return None


def _is_written_alike(value: Any) -> bool:
    """Whether json writes a value as orjson did, which accepts its texts, keys and whole numbers."""
    containers: list[Any] = [(value,)]
    for container in containers:  # which grows
        for item in container.values() if type(container) is dict else container:
            kind = type(item)
            if kind in _PLAIN_TYPES:
                continue
            if kind is float:
                if item and not 1e-4 <= abs(item) < 1e16:  # an exponent, whose form differs, or not finite
                    return False
            elif kind is dict or kind is list or kind is tuple:
                containers.append(item)
            else:
                return False
    return True

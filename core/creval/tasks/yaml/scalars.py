"""The values of plain YAML scalars, by the core schema of YAML 1.2 (section 10.3.2).

So `no`, `on`, `1:30` and `2024-01-01` are texts, and `1e-3` is a number. PyYAML's own rules are those of YAML 1.1.
"""

from __future__ import annotations

import math
import re

__all__ = ["Scalar", "resolve"]

Scalar = str | int | float | bool | None

_CONSTANTS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = r"[-+]?[0-9]+"
_BASED = r"0o([0-7]+)|0x([0-9a-fA-F]+)"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_NOT_FINITE = r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
_MAX_DIGITS = 400
_STARTS_NUMBER = frozenset("+-.0123456789")


def resolve(text: str) -> Scalar:
    """Return the value of a plain (unquoted) scalar. Raises ValueError for a number that is not finite or too long."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in _STARTS_NUMBER or text.count(".") > 1:  # words, versions
        return text
    if re.fullmatch(_NOT_FINITE, text):
        raise ValueError(f"{text} is not a finite number")
    if re.fullmatch(_INTEGER, text):
        if len(text) > _MAX_DIGITS:
            raise ValueError(f"a number of {len(text)} digits is too long")
        return int(text)
    based = re.fullmatch(_BASED, text)
    if based:
        return int(based[1], 8) if based[1] else int(based[2], 16)
    if re.fullmatch(_FLOAT, text):
        number = float(text)
        if not math.isfinite(number):
            raise ValueError(f"{text} is too large for a number")
        return number
    return text

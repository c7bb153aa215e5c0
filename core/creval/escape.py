"""Text written by others (models, servers, task files) made safe for a terminal."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["control_character", "json_text", "visible", "without_surrogates"]

# Control characters except tab and newline, marks that change the direction of a line, lone surrogates.
_HIDDEN = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"


def visible(text: str, limit: int | None = None) -> str:
    """Return a text with its control characters escaped (`\\x1b`), so that it cannot control the terminal.

    A text longer than `limit` characters is cut and ends with an ellipsis.
    """
    if limit is not None and len(text) > limit:
        text = text[:limit] + "…"
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_HIDDEN, lambda match: ascii(match.group())[1:-1], text)


def json_text(data: Any, indent: int | None = 2, allow_nan: bool = True) -> str:
    """Return plain data as JSON for a terminal, with JSON's own escapes for the characters that `visible` escapes."""
    import json  # not at the start, which --help waits for

    text = json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=allow_nan)
    return re.sub(_HIDDEN, lambda match: f"\\u{ord(match.group()):04x}", text)


def control_character(path: str) -> str | None:
    """Return the first character of a path that nobody types on purpose (a control character ...), escaped."""
    match = re.search(rf"{_HIDDEN}|[\n\t]", path)
    return None if match is None else ascii(match.group())[1:-1]


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which JSON can contain but files cannot."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text

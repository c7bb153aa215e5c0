"""What was found in a text: one JSON value, or the reason why it cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Found"]


@dataclass(frozen=True, slots=True)
class Found:
    """JSON that stands at `start` up to `end` of the part of the text that was searched.

    `value` is an array or object, `mended` whether it was faulty. Where it cannot be read there is a `fault`, the
    reason, and no value. `heading` is the last line of the text that stands before it.
    """

    start: int
    end: int
    value: Any = None
    mended: bool = False
    fault: str | None = None
    heading: str = ""

"""The base of the core's parsers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from creval.parsing.refusal import is_refusal
from creval.types.components import Parsed

__all__ = ["TextParser", "not_text"]


@dataclass(frozen=True, kw_only=True)
class TextParser:
    """Base of the parsers that read the text of an answer, and are alternatives in a chain.

    With `refine: true` such a parser reads the value of the parser before it instead:
    `[tagged: answer, last_number: {refine: true}]` takes the last number inside the tag.

    `refusals`: whether a plain refusal is a failure that is counted as refusal (`creval.parsing.refusal`). It is by
    default true for parsers of lists, and false for others.
    """

    refine: bool = False
    refusals: bool | None = None

    spots_refusals: ClassVar[bool] = False
    """The default of `refusals`."""

    def is_refusal(self, text: str) -> bool:
        """Whether this parser reads a text as a plain refusal."""
        checked = self.spots_refusals if self.refusals is None else self.refusals
        return checked and is_refusal(text)


def not_text(value: Any) -> Parsed:
    """Return the failure of a parser that needs a text but got something else."""
    return Parsed.failure(f"expected text, but the parser before it gave a {type(value).__name__}")

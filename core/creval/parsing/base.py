"""What the core's own parsers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from creval.parsing.refusal import is_refusal
from creval.types.components import Parsed

__all__ = ["Extractor", "not_text"]


@dataclass(frozen=True, kw_only=True)
class Extractor:
    """Base of the parsers that read a text.

    In a chain they are alternatives. With `refine: true` such a parser instead reads the value that the
    chain has so far: `[tagged: answer, last_number: {refine: true}]` takes the last number inside the tag.

    `refusals`: whether a plain refusal is a failure that is counted as such (`creval.parsing.refusal`). Parsers of
    lists do so unless `refusals: false` is set; the others where `refusals: true` is set.
    """

    refine: bool = False
    refusals: bool | None = None

    spots_refusals: ClassVar[bool] = False
    """What `refusals` is where the task file does not say."""

    def is_refusal(self, text: str) -> bool:
        """Whether this parser reads a text as a plain refusal."""
        wanted = self.spots_refusals if self.refusals is None else self.refusals
        return wanted and is_refusal(text)


def not_text(value: Any) -> Parsed:
    """Return the failure of a parser that needs a text and was handed something else."""
    return Parsed.failure(f"expected text, but the parser before it gave a {type(value).__name__}")

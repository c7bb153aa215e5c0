"""What the core's own parsers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from creval.types.components import Parsed

__all__ = ["Extractor", "not_text"]


@dataclass(frozen=True, kw_only=True)
class Extractor:
    """Base of the parsers that read a text.

    In a chain they are alternatives. With `refine: true` such a parser instead reads the value that the
    chain has so far: `[tagged: answer, last_number: {refine: true}]` takes the last number inside the tag.
    """

    refine: bool = False

    @property
    def refines(self) -> bool:
        return self.refine


def not_text(value: Any) -> Parsed:
    """Return the failure of a parser that needs a text and was handed something else."""
    return Parsed.failure(f"expected text, but the parser before it gave a {type(value).__name__}")

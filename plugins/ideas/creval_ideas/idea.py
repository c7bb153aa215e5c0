"""Parser `ideas.idea`: accepts answers as ideas by their length only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from creval.plugin import Parsed
from creval.plugin.parsing import without_unseen

__all__ = ["Idea"]


@dataclass(frozen=True)
class Idea:
    """The answer without surrounding white space, within limits of length.

    It has more than `over` characters, fewer than `below`, and fewer than `words` words.

    Source of the limits: `stats.ipynb` of LiveIdeaBench, which leaves other ideas out of all its numbers (refusals are
    short, rambling answers are long). It does not enforce the 100 words that the prompt asks for.
    """

    over: int = 100
    below: int = 2500
    words: int = 200

    def parse(self, text: Any) -> Parsed:
        """Return the idea, or the limit that it breaks."""
        if not isinstance(text, str):
            return Parsed.failure("an idea is a text")
        idea = str(without_unseen(text)).strip()
        if len(idea) <= self.over:
            return Parsed.failure(f"an idea has more than {self.over} characters, this has {len(idea)}")
        if len(idea) >= self.below:
            return Parsed.failure(f"an idea has fewer than {self.below} characters, this has {len(idea)}")
        if (count := len(idea.split())) >= self.words:
            return Parsed.failure(f"an idea has fewer than {self.words} words, this has {count}")
        return Parsed(idea, route="idea")

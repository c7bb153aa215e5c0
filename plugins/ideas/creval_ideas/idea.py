"""Parser `ideas.idea`: which answers count as ideas, by their length alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from creval.plugin import Parsed
from creval.plugin.parsing import without_unseen

__all__ = ["Idea"]


@dataclass(frozen=True)
class Idea:
    """The answer without white space around it, within the limits of length.

    It has more than `over` characters, fewer than `below`, and fewer than `words` words.

    Source of the limits: `stats.ipynb` of LiveIdeaBench, which leaves other ideas out of all its numbers (a model that
    declines says little, one that rambles much). The 100 words that the prompt asks for are no limit there.
    """

    over: int = 100
    below: int = 2500
    words: int = 200

    def parse(self, text: Any) -> Parsed:
        """Return the idea, or say which limit it breaks."""
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

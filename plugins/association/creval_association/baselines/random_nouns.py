"""Floor of the list tests: random nouns."""

from __future__ import annotations

import json
from dataclasses import dataclass

from creval.plugin import Turn

__all__ = ["RandomNouns"]


@dataclass(frozen=True)
class RandomNouns:
    """Answers with `words` different nouns of the task's word list, drawn from the sample's random stream."""

    words: int = 10

    def reply(self, turn: Turn) -> str:
        """Return a JSON array."""
        return json.dumps(turn.random.sample(list(turn.context.resource("wordlist").words), self.words))

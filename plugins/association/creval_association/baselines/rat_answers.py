"""Floor and ceiling of RAT: a random noun, and the answer key."""

from __future__ import annotations

from creval.plugin import Turn

__all__ = ["RandomNoun", "Solution"]


class RandomNoun:
    """One random noun of the task's word list."""

    def reply(self, turn: Turn) -> str:
        """Return the noun."""
        return str(turn.random.choice(turn.context.resource("wordlist").words))


class Solution:
    """The doc's `solution`."""

    def reply(self, turn: Turn) -> str:
        """Return the solution."""
        return str(turn.doc["solution"])

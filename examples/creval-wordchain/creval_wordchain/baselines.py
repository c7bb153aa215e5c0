"""Players without a language model: one that keeps the chain, one that breaks it at once."""

from __future__ import annotations

from creval.plugin import Turn

__all__ = ["Follows", "Repeats"]


class Follows:
    """Says the last letter and a number of others that grows, which no word before had."""

    def reply(self, turn: Turn) -> str:
        """Go on from the last word that was said."""
        last = str(turn.messages[-1].content).split()[-1].rstrip(".")
        return last[-1] + "a" * (turn.call + 1)


class Repeats:
    """Says the word that it was given."""

    def reply(self, turn: Turn) -> str:
        """Break the chain."""
        return str(turn.doc["start"])

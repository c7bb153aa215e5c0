"""The ceiling: ideas that people would accept, a different one for each repeat."""

from __future__ import annotations

from creval.plugin import Turn

__all__ = ["WrittenIdeas"]

_ANY = (
    "Ask a thousand amateurs to keep one short diary on {keyword} for a year, publish the entries as they arrive, and "
    "test on the second half which patterns that experts name in the first half hold.",
    "List all measurements on {keyword} that were given up as too noisy, repeat the three cheapest with sensors of "
    "today, and ask whether what was noise then now predicts the next measurement.",
)


class WrittenIdeas:
    """Answers with the ideas in the doc's field `ideas`, one per repeat, cyclically.

    A doc without them gets our own ideas, the same for every keyword except for its name: they are not a known optimum.
    """

    def reply(self, turn: Turn) -> str:
        """Return the idea of this repeat."""
        ideas = turn.doc.get("ideas") or [idea.format(keyword=turn.doc["keyword"]) for idea in _ANY]
        return str(ideas[turn.key.repeat % len(ideas)])

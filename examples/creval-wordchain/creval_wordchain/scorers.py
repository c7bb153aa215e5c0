"""Scorers: the length of the chain, and what a judge thinks of it."""

from __future__ import annotations

from collections.abc import Sequence

from creval.plugin import Context, Score, ScorerInput, ScoringError

__all__ = ["ChainLength", "Surprise"]


class ChainLength:
    """Score `links`: how many words the model added."""

    def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Count the protocol's outcome."""
        return [Score({"links": float(len(item.outcome["chain"]))}) for item in items]


class Surprise:
    """Score `surprise`, 1 to 5, by the judge. A verdict that cannot be read is asked for once more."""

    async def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Ask about each chain. Raises ScoringError where the judge gives no number twice."""
        return [await self._of(item, context) for item in items]

    async def _of(self, item: ScorerInput, context: Context) -> Score:
        question = context.prompt("surprise", item.doc, chain=", ".join(item.outcome["chain"]))
        for _ in range(2):
            reply = await context.ask("judge", question, item.key)
            if reply.text.strip() in ("1", "2", "3", "4", "5"):
                return Score({"surprise": float(reply.text)})
            context.unreadable(reply, "no number from 1 to 5")
        raise ScoringError("the judge gave no number from 1 to 5")

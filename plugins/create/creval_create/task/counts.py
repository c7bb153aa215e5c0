"""Scorer `create_counts`: counts of an answer's paths, without any judge or encoder."""

from __future__ import annotations

from collections.abc import Sequence

from creval.plugin import Context, Score, ScorerInput
from creval_create.task.answers import candidates

__all__ = ["CreateCounts"]


class CreateCounts:
    """Counts paths: `printed`, `readable`, `rescued` (the readable ones that a parser of the whole answer as JSON
    loses), `distinct`, `valid_strict`, `valid_shared`, `valid_released`; and `tokens`, those of the target's output
    (including reasoning) summed over a sample's calls, `tokens_per_call` their mean.

    A baseline has no tokens.
    """

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Return one score for each item, in order."""
        return [self._score_sample(item) for item in items]

    def _score_sample(self, item: ScorerInput) -> Score:
        scores = candidates(item).counts()
        tokens = [
            reply.usage.output_tokens
            for call in item.calls
            if call.role == "target" and (reply := call.reply) is not None
        ]
        if any(tokens):
            scores |= {"tokens": float(sum(tokens)), "tokens_per_call": sum(tokens) / len(tokens)}
        return Score(scores)

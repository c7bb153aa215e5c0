"""The scorer `reasoning_gym`: the library's own verifier of each data set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from creval.plugin import Context, Score, ScorerInput
from creval_reasoning_gym.guard import REFUSED, is_harmless
from creval_reasoning_gym.library import entry, open_set
from creval_reasoning_gym.source import made_of

__all__ = ["SOLVED", "Verifier"]

SOLVED = 0.99
"""The library's minimum score of a right answer."""


class Verifier:
    """Scores `score`, the verifier's result (0 to 1), and `solved`, whether that is at least .99.

    An answer that a verifier would run as a program, or that would keep it busy without end, is not read: it gets
    the verifier's score of an unreadable one, and the details say so (`refused`).
    """

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Verify one answer of each sample."""
        return [_scored(item) for item in items]


def _scored(item: ScorerInput) -> Score:
    made, index = made_of(item.doc, item.condition.settings.get("level") if "levels" in item.doc else None)
    answer = str(item.value)
    details: dict[str, Any] = {}
    if not is_harmless(made.name, answer):
        answer, details = REFUSED, {"refused": True}
    question = entry(made, index)
    try:
        found = float(open_set(made).score_answer(answer, question))
    except Exception as error:  # an answer that breaks the verifier is not accepted
        found, details = 0.0, {**details, "verifier": f"{type(error).__name__}: {error}"[:200]}
    found = min(1.0, max(0.0, found)) if math.isfinite(found) else 0.0
    return Score({"score": found, "solved": float(found >= SOLVED)}, details or None)

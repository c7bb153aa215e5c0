"""Floor and ceiling: the same step in every candidate (entropy 0), and ten unrelated ones (entropy ln 10).

Each reports the probability of its answers, as a model with log-probabilities does. Both change their text from step to
step, so that no solution repeats itself.
"""

from __future__ import annotations

import math

from creval.plugin import Completion, TokenLogprob, Turn

__all__ = ["SameStep", "UnrelatedSteps", "WrittenSolution"]

_STEPS = (
    "Fold the largest piece of cloth into a cushion.",
    "Fill a bottle with warm water and seal it.",
    "Ask the nearest neighbour for their opinion.",
    "Draw a plan of the room on paper.",
    "Count the coins in your pocket.",
    "Wait until the sun has set.",
    "Whistle a tune to keep your courage.",
    "Sort all objects by their weight.",
    "Photograph the scene from above.",
    "Sharpen a pencil down to its end.",
)
_FULL = "Step 1: Begin.\nStep 2: Finish."


class SameStep:
    """Answers with the same step in every candidate of a step."""

    def reply(self, turn: Turn) -> str | Completion:
        """Return the step; at first the full answer of two steps."""
        return _completion(_STEPS[turn.call % len(_STEPS)], 1.0) if _sampled(turn) else _FULL


class UnrelatedSteps:
    """Answers with a different step in every candidate: the maximum of classes. Steps beyond ten are numbered."""

    def reply(self, turn: Turn) -> str | Completion:
        """Return the step that belongs to the candidate's number; at first the full answer of two steps."""
        if not _sampled(turn):
            return _FULL
        step = _STEPS[(turn.call + turn.completion) % len(_STEPS)]
        again = turn.completion // len(_STEPS)
        return _completion(f"{step} Do so {again} times." if again else step, 1 / len(_STEPS))


class WrittenSolution:
    """Answers with the solution in the doc's field `solution`; without it the full answer of two steps."""

    def reply(self, turn: Turn) -> str | Completion:
        """Return the solution."""
        return str(turn.doc.get("solution") or _FULL)


def _sampled(turn: Turn) -> bool:
    """Return whether the request is for candidates of a step, not the full answer: only their prompt mentions STOP."""
    return any("STOP" in message.text for message in turn.messages)


def _completion(text: str, probability: float) -> Completion:
    return Completion(text, logprobs=(TokenLogprob(text, math.log(probability)),))

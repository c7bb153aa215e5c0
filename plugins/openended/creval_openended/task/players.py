"""Floor and ceiling: the same step every time (entropy 0), and as many unrelated steps as are asked for (ln n)."""

from __future__ import annotations

from creval.plugin import Turn

__all__ = ["SameStep", "UnrelatedSteps"]

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
    """Says the same step in every candidate of every step."""

    def reply(self, turn: Turn) -> str:
        """Return the step; first the full answer of two steps."""
        return _FULL if turn.call == 0 else _STEPS[0]


class UnrelatedSteps:
    """Says a different step in every candidate: the most classes that there can be."""

    def reply(self, turn: Turn) -> str:
        """Return the step that belongs to the candidate's number; beyond ten they are numbered."""
        if turn.call == 0:
            return _FULL
        step = _STEPS[turn.completion % len(_STEPS)]
        return step if turn.completion < len(_STEPS) else f"{step} Do so {turn.completion} times."

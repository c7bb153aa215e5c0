"""Settings of step-by-step sampling: as in the paper, or as in the authors' released code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from creval.plugin import UsageError
from creval_openended.stepwise.candidates import Ends
from creval_openended.stepwise.choice import Majority, Select

__all__ = ["Counted", "LeaveOut", "StepwiseSettings", "Unit", "Variant"]

Counted = Literal["labels", "words"]
LeaveOut = Literal["nothing", "repeated_steps"]
Unit = Literal["step", "sentence"]
Variant = Literal["paper", "released"]
_RELEASED = {"select": "sum", "majority": "half", "counted": "words", "ends": "line", "redraw": 5}
_WHERE = "openended.stepwise"


@dataclass(frozen=True, slots=True)
class StepwiseSettings:
    """`n` candidates per step; `steps` is (fewest, most); without `full_answer` the limit is the most.

    `unit` says what a step is: "step" with a label, or "sentence", which is then also the unit counted. `counted`: the
    steps of a full answer are its different labels "Step k", or every word "Step" in it. `ends`: a candidate's step
    ends before a further label, or at the end of the line that has "Step". `redraw`: a candidate that says "Step" more
    than twice is sampled again, at most this many times. `select` and `majority` as in `stepwise.choice`. `leave_out`:
    solutions that the task leaves out, "repeated_steps" those with identical consecutive steps (Appendix F); see
    `stepwise.outcome`.
    """

    n: int = 10
    steps: tuple[int, int] = (2, 10)
    full_answer: bool = True
    unit: Unit = "step"
    select: Select = "mean"
    majority: Majority = "more_than_half"
    counted: Counted = "labels"
    ends: Literal["label", "line"] = "label"
    redraw: int = 0
    leave_out: LeaveOut = "nothing"

    @classmethod
    def of(cls, variant: Variant = "paper", steps: Sequence[int] = (2, 10), **changed: Any) -> StepwiseSettings:
        """Return the settings of a variant, with some changed. Raises UsageError for invalid bounds."""
        known = {field.name for field in fields(cls)}
        unknown = [name for name in changed if name not in known]
        if unknown:
            raise UsageError(f"step-by-step sampling has no setting {unknown[0]!r}", where=_WHERE)
        if len(steps) != 2 or steps[0] > steps[1]:
            raise UsageError(
                f"{list(steps)} are not bounds of the number of steps",
                where=f"{_WHERE}: steps",
                fix="Write the minimum and the maximum, as in [2, 10].",
            )
        released = _RELEASED if variant == "released" else {}
        return cls(**{**released, **changed, "steps": (steps[0], steps[1])})

    @property
    def reading(self) -> Ends:
        """Return how a candidate is read."""
        return "sentence" if self.unit == "sentence" else self.ends

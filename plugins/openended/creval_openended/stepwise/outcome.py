"""Read the outcome that the protocol recorded for a solution."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from creval_openended.stepwise.candidates import Candidate, without_label

__all__ = ["chosen_texts", "dropped", "has_filter", "left_out", "measured_steps", "repeats_itself"]


def measured_steps(outcome: Mapping[str, Any]) -> list[list[Candidate]]:
    """Return the usable candidates of each step that counts; the step at which the solution was complete does not."""
    steps = []
    for step in outcome.get("steps", ()):
        if not step["complete"]:
            candidates = [Candidate.from_json(each) for each in step["candidates"]]
            usable = [candidate for candidate in candidates if candidate.kind == "usable"]
            if usable:
                steps.append(usable)
    return steps


def dropped(outcome: Mapping[str, Any]) -> dict[str, int]:
    """Return how many candidates were left out, by kind."""
    counts: dict[str, int] = {}
    for step in outcome.get("steps", ()):
        for each in step["candidates"]:
            if each["kind"] != "usable":
                counts[each["kind"]] = counts.get(each["kind"], 0) + 1
    return counts


def has_filter(outcome: Mapping[str, Any]) -> bool:
    """Return whether the task of the solution leaves some solutions out."""
    return "left_out" in outcome


def left_out(outcome: Mapping[str, Any]) -> str | None:
    """Return why the task leaves this solution out of its numbers; None if it keeps it."""
    reason = outcome.get("left_out")
    return None if reason is None else str(reason)


def repeats_itself(outcome: Mapping[str, Any]) -> bool:
    """Return whether two consecutive steps are the same text (Appendix F's artefact of greedy choice)."""
    texts = chosen_texts(outcome)
    return any(one == next_ for one, next_ in pairwise(texts))


def chosen_texts(outcome: Mapping[str, Any]) -> list[str]:
    """Return the steps of a finished sample without their labels, as they were appended."""
    return [
        without_label(step["candidates"][step["chosen"]]["text"])
        for step in outcome.get("steps", ())
        if step["chosen"] is not None
    ]

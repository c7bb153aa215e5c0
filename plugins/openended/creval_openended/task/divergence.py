"""Scorer `openended.divergence`: entropy over classes of meaning.

Source: paper 004, 3.2, Section 5 and Appendix C. A step's measure is over its usable candidates, a solution's is
the mean over its steps; the lowest and highest step are reported too. Classes are found here and not during generation,
so that another entailment model costs no call of the target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from creval.plugin import Context, Expected, MissingScore, Score, ScorerInput, Status
from creval_openended.entropy.candidate_interval import Step, candidate_interval
from creval_openended.entropy.estimators import Entropies, entropies
from creval_openended.entropy.judging import Rule, judge_by
from creval_openended.entropy.partition import partition_all
from creval_openended.entropy.released import as_released, released_entropies
from creval_openended.stepwise.candidates import Candidate, without_label
from creval_openended.stepwise.filtering import filtered
from creval_openended.stepwise.outcome import dropped, measured_steps, repeats_itself
from creval_openended.task.expected import expected_pairs

__all__ = ["Divergence"]

_NO_STEP = "no step has a usable candidate"
_NO_LOGPROBS = "candidates came without log-probabilities; semantic_entropy_count needs none"
_WEIGHED = ("semantic_entropy", "naive_entropy")
_UNFILTERED = "semantic_entropy_unfiltered"


class Divergence:
    """Scores of each solution; see docs/openended.md for all of them.

    A solution that the task leaves out (`leave_out` of the protocol) has only `semantic_entropy_unfiltered`. `rule` as
    in `creval_openended.entropy.judging`. With `label: keep` entailment sees steps with their "Step 3:", with `repeats:
    released` texts that occur again count as in `creval_openended.entropy.released`; `variant: released` is both.
    """

    def __init__(
        self,
        rule: Rule = "strict",
        variant: Literal["paper", "released"] = "paper",
        label: Literal["drop", "keep"] | None = None,
        repeats: Literal["plain", "released"] | None = None,
    ) -> None:
        self._rule: Rule = rule
        released = variant == "released"
        self._keep_label = released if label is None else label == "keep"
        self._released_repeats = released if repeats is None else repeats == "released"

    def expected_pairs(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int]]:
        """Return the number of pairs to judge for a solution whose candidates differ in their words."""
        return {"entailment": expected_pairs(expected)}

    async def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Cluster the steps of all samples together, then measure each."""
        steps = [measured_steps(item.outcome) for item in items]
        texts = [self._compared(step) for sample in steps for step in sample]
        labels = iter(await partition_all(texts, judge_by(context.resource("entailment"), self._rule)))
        return [
            self._score_sample(item, sample, [next(labels) for _ in sample])
            for item, sample in zip(items, steps, strict=True)
        ]

    def _compared(self, step: Sequence[Candidate]) -> list[str]:
        """Return the candidates of a step as entailment sees them."""
        return [each.text if self._keep_label else without_label(each.text) for each in step]

    def _score_sample(
        self, item: ScorerInput, steps: Sequence[Sequence[Candidate]], labels: Sequence[list[int]]
    ) -> Score:
        lost = dropped(item.outcome)
        if not steps:
            return Score({}, {"dropped": lost}, failure=_NO_STEP)
        measured = [Step(classes, _logprobs(step)) for step, classes in zip(steps, labels, strict=True)]
        found = [entropies(step.labels, step.logprobs) for step in measured]
        if self._released_repeats:
            pairs = zip(steps, measured, strict=True)
            measured = [as_released(self._compared(step), each) for step, each in pairs]
            found = [released_entropies(each, plain) for each, plain in zip(measured, found, strict=True)]
        scores = _scores(found)
        missing = {name: MissingScore(Status.ERRORED, _NO_LOGPROBS) for name in _weighed() if name not in scores}
        value = scores.get("semantic_entropy", scores.get("semantic_entropy_count"))
        details = {
            "entropy_steps": [_step_details(each, classes) for each, classes in zip(found, labels, strict=True)],
            "dropped": lost,
            "repeated_step": repeats_itself(item.outcome),
            "candidate_interval": None if value is None else candidate_interval(measured, value),
        }
        return filtered(Score(scores, details, missing=missing), item.outcome)


def _weighed() -> list[str]:
    """Return the scores that need log-probabilities."""
    return [_UNFILTERED, *(f"{name}{end}" for name in _WEIGHED for end in ("", "_min", "_max"))]


def _logprobs(step: Sequence[Candidate]) -> list[float] | None:
    """Return the candidates' mean log-probabilities, or None if one has none: then they are not comparable."""
    values = [candidate.mean for candidate in step if candidate.mean is not None]
    return values if len(values) == len(step) else None


def _scores(found: Sequence[Entropies]) -> dict[str, float]:
    scores = {"steps": float(len(found))}
    for name, values in (
        ("semantic_entropy", [each.semantic for each in found]),
        ("semantic_entropy_count", [each.count for each in found]),
        ("naive_entropy", [each.naive for each in found]),
        ("classes", [float(each.classes) for each in found]),
        ("candidates", [float(each.candidates) for each in found]),
    ):
        numbers = [value for value in values if value is not None]
        if len(numbers) == len(values):  # if a step lacks it, the mean would be over other steps
            scores[name] = float(np.mean(numbers))
            scores[f"{name}_min"], scores[f"{name}_max"] = min(numbers), max(numbers)
    if "semantic_entropy" in scores:
        scores[_UNFILTERED] = scores["semantic_entropy"]
    relative = [each.relative for each in found if each.relative is not None]
    if relative:
        scores["relative_entropy"] = float(np.mean(relative))
    return scores


def _step_details(found: Entropies, labels: Sequence[int]) -> dict[str, Any]:
    return {
        "semantic_entropy": found.semantic,
        "semantic_entropy_count": found.count,
        "naive_entropy": found.naive,
        "classes": found.classes,
        "candidates": found.candidates,
        "labels": list(labels),
    }

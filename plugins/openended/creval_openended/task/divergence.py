"""Scorers of divergence: `openended.divergence` (classes of meaning) and `openended.surface` (words and vectors).

Source: paper 004, 3.2, Section 5 and Appendix C. A step's measure is taken over its usable candidates, a solution's is
the mean over its steps; the lowest and highest step stand beside it. Classes are found here and not while the solution
is made, so that another entailment model costs no call of the target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from creval.plugin import Context, Scorable, Score
from creval_openended.entropy.bootstrap import Step, candidate_interval
from creval_openended.entropy.estimators import Entropies, entropies
from creval_openended.entropy.judging import Rule, judge_by
from creval_openended.entropy.partition import partition_all
from creval_openended.entropy.surface import distinct, mean_cosine, self_bleu
from creval_openended.stepwise.candidates import Candidate, without_label
from creval_openended.stepwise.protocol import chosen_texts

__all__ = ["Divergence", "Surface"]

_NO_STEP = "no step has a usable candidate"


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
    """Return how many candidates were left out, by what they were."""
    counts: dict[str, int] = {}
    for step in outcome.get("steps", ()):
        for each in step["candidates"]:
            if each["kind"] != "usable":
                counts[each["kind"]] = counts.get(each["kind"], 0) + 1
    return counts


def repeats_itself(outcome: Mapping[str, Any]) -> bool:
    """Whether two consecutive steps of the solution are the same text (Appendix F's artefact of greedy choice)."""
    texts = chosen_texts(outcome)
    return any(one == next_ for one, next_ in pairwise(texts))


class Divergence:
    """Scores of each solution; see docs/openended.md for all of them.

    With `drop_repeated` a solution with identical consecutive steps has no plain scores (Appendix F, BookMIA), but
    keeps `semantic_entropy_unfiltered`. `rule` as in `creval_openended.entropy.judging`.
    """

    batch_size = 64

    def __init__(self, rule: Rule = "strict", drop_repeated: bool = False) -> None:
        self._rule: Rule = rule
        self._drop_repeated = drop_repeated

    async def score(self, items: Sequence[Scorable], context: Context) -> Sequence[Score]:
        """Cluster the steps of all samples together, then measure each."""
        steps = [measured_steps(item.outcome) for item in items]
        texts = [[without_label(each.text) for each in step] for sample in steps for step in sample]
        labels = iter(await partition_all(texts, judge_by(context.resource("entailment"), self._rule)))
        return [
            self._one(item, sample, [next(labels) for _ in sample], context.seed)
            for item, sample in zip(items, steps, strict=True)
        ]

    def _one(
        self, item: Scorable, steps: Sequence[Sequence[Candidate]], labels: Sequence[list[int]], seed: int
    ) -> Score:
        lost = dropped(item.outcome)
        if not steps:
            return Score({}, {"dropped": lost}, failure=_NO_STEP)
        measured = [Step(classes, _logprobs(step)) for step, classes in zip(steps, labels, strict=True)]
        found = [entropies(step.labels, step.logprobs) for step in measured]
        scores = _scores(found)
        repeated = repeats_itself(item.outcome)
        details = {
            "entropy_steps": [_step_details(each, classes) for each, classes in zip(found, labels, strict=True)],
            "dropped": lost,
            "repeated_step": repeated,
            "candidate_interval": candidate_interval(measured, seed),
        }
        if "semantic_entropy" in scores:
            scores["semantic_entropy_unfiltered"] = scores["semantic_entropy"]
        if repeated and self._drop_repeated:
            kept = ("semantic_entropy_unfiltered", "steps")
            scores = {name: value for name, value in scores.items() if name in kept}
        return Score(scores, details)


def _logprobs(step: Sequence[Candidate]) -> list[float] | None:
    """The candidates' mean log-probabilities, or None where one has none: they are then not comparable."""
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
        if len(numbers) == len(values):  # with a step that lacks it the mean would be over other steps
            scores[name] = float(np.mean(numbers))
            scores[f"{name}_min"], scores[f"{name}_max"] = min(numbers), max(numbers)
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


class Surface:
    """`cosine`, `self_bleu`, `distinct_1`, `distinct_2` of the candidates, mean over steps (Appendix C.3)."""

    async def score(self, items: Sequence[Scorable], context: Context) -> Sequence[Score]:
        """Measure each solution."""
        embedding = context.resource("embedding")
        return [self._one(item, embedding) for item in items]

    def _one(self, item: Scorable, embedding: Any) -> Score:
        steps = [[without_label(each.text) for each in step] for step in measured_steps(item.outcome)]
        if not steps:
            return Score({}, failure=_NO_STEP)
        per_step: dict[str, list[float | None]] = {
            "cosine": [mean_cosine(embedding.embed(texts)) for texts in steps],
            "self_bleu": [self_bleu(texts) for texts in steps],
            "distinct_1": [distinct(texts, 1) for texts in steps],
            "distinct_2": [distinct(texts, 2) for texts in steps],
        }
        scores = {}
        for name, values in per_step.items():
            numbers = [value for value in values if value is not None]
            if numbers:
                scores[name] = float(np.mean(numbers))
        return Score(scores, {"surface_steps": per_step})

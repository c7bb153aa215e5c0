"""The measured steps of runs: one row per step of a solution, with all its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import Run, RunError, Sample, open_runs
from creval_openended.stepwise.outcome import left_out

__all__ = ["MEASURES", "StepRow", "read_steps", "temperature_of"]

MEASURES = ("cosine", "self_bleu", "distinct_1", "distinct_2")
"""The surface measures, by the names of their scores."""


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step: where it comes from, and its measurements.

    `problem` is the task and doc: steps of one problem are not independent. `entropy` is the semantic entropy, or its
    count estimator if there are no log-probabilities (`estimator` says which). `tokens` and `words` are the mean
    numbers of tokens and words of its candidates.
    """

    model: str
    task: str
    problem: str
    number: int
    temperature: float | None
    estimator: str
    entropy: float
    classes: int
    candidates: int
    words: float
    surface: Mapping[str, float | None]


def read_steps(runs: Sequence[str], task: str | None = None) -> list[StepRow]:
    """Read the steps of the solutions that the task keeps. Raises RunError if a run has none."""
    rows = []
    for run in open_runs(runs):
        found = list(_of_run(run, task))
        if not found:
            raise RunError(
                "contains no solution that was made step by step and scored",
                where=str(run.folder),
                fix="Name runs of macgyver, hypogen, bookmia or of a task that includes openended/openended.",
            )
        rows += found
    return rows


def _of_run(run: Run, task: str | None) -> Iterator[StepRow]:
    for sample, score in run.scored(task):
        if left_out(sample.outcome) is not None:
            continue
        measured = score.details.get("entropy_steps", ())
        surface = score.details.get("surface_steps", {})
        kept = [step for step in sample.outcome.get("steps", ()) if _counts(step)]
        for index, (numbers, step) in enumerate(zip(measured, kept, strict=False)):
            yield _row(run.model, sample, step, numbers, {name: _at(surface, name, index) for name in MEASURES})


def _counts(step: Mapping[str, Any]) -> bool:
    return not step["complete"] and any(each["kind"] == "usable" for each in step["candidates"])


def _at(surface: Mapping[str, Sequence[float | None]], name: str, index: int) -> float | None:
    values = surface.get(name, ())
    return values[index] if index < len(values) else None


def _row(
    model: str, sample: Sample, step: Mapping[str, Any], numbers: Mapping[str, Any], surface: Mapping[str, float | None]
) -> StepRow:
    usable = [each for each in step["candidates"] if each["kind"] == "usable"]
    semantic = numbers["semantic_entropy"]
    return StepRow(
        model=model,
        task=sample.key.task,
        problem=f"{sample.key.task}/{sample.key.doc}",
        number=int(step["number"]),
        temperature=temperature_of(sample),
        estimator="count" if semantic is None else "semantic",
        entropy=numbers["semantic_entropy_count"] if semantic is None else semantic,
        classes=numbers["classes"],
        candidates=numbers["candidates"],
        words=sum(len(each["text"].split()) for each in usable) / len(usable),
        surface=surface,
    )


def temperature_of(sample: Sample) -> float | None:
    """Return the temperature that was sent when the steps were sampled; None if none was sent."""
    for call in sample.calls:
        if call.role == "target" and "n" in call.settings:
            value = call.settings.get("temperature")
            return None if value is None else float(value)
    return None

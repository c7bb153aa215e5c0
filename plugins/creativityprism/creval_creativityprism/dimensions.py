"""`creval analyse creativityprism`: quality, novelty and diversity over the tasks of a run, and their mean.

The suite reports the dimensions of a whole run itself; this has the domains too, and takes a run of some of the tasks.
The mean of the three dimensions is the published overall score: it holds in all 17 rows of the authors' leaderboard.
Which metric belongs to which dimension is as in `main/config/tasks.yaml` of github.com/JoeyHou/CreativityPrism at
c17cf8c, for the metrics that are here. The table of the paper was not at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Any

from creval.plugin import AnalysisOutput, DataError, FieldSpec, Run, open_runs

__all__ = ["DIMENSIONS", "Dimensions", "overall"]

DIMENSIONS = ("quality", "novelty", "diversity")
_WRITING, _DIVERGENT, _LOGIC = "creative writing", "divergent thinking", "logical reasoning"


@dataclass(frozen=True, slots=True)
class _Part:
    """A task of the paper: creval's tasks of it, its domain, and which metric belongs to which dimension."""

    name: str
    domain: str
    tasks: str
    metrics: Mapping[str, str]


_PARTS = (
    _Part("AUT", _DIVERGENT, "creativityprism_aut", {"novelty": "novelty"}),
    _Part("DAT", _DIVERGENT, "dat", {"dat": "diversity"}),
    _Part(
        "TTCT",
        _DIVERGENT,
        "creativityprism_ttct",
        {
            "fluency": "quality",
            "elaboration": "quality",
            "originality": "novelty",
            "flexibility": "diversity",
        },
    ),
    _Part(
        "TTCW",
        _WRITING,
        "creativityprism_ttcw",
        {
            "fluent_ending": "quality",
            "fluent_coherence": "quality",
            "elaborate_world": "quality",
            "flexible_feeling": "diversity",
        },
    ),
    _Part(
        "CS4",
        _WRITING,
        "creativityprism_cs4",
        {"satisfied": "quality", "coherence": "quality", "ngram_diversity": "diversity"},
    ),
    _Part("Creative Short Story", _WRITING, "creativityprism_short_story", {"ngram_diversity": "diversity"}),
    _Part("NeoCoder", _LOGIC, r"neocoder_state[0-5]", {"convergent": "quality", "divergent": "novelty"}),
    _Part("CreativeMath", _LOGIC, r"(?!)", {}),  # not to be had: see docs/creativityprism.md
)
_TOP = {"dat": 100.0}
"""What counts as 1 if it is not the top of the metric's range."""

_COLUMNS = ("run", "of", "name", "value", "standard error", "tasks", "without")


@dataclass(frozen=True, slots=True)
class _Number:
    part: _Part
    dimension: str
    value: float
    error: float | None


class Dimensions:
    """A row for each dimension, each domain and the overall score of a run; each from 0 to 1."""

    example = "runs/prism"

    def options(self) -> Sequence[FieldSpec]:
        """It has no options apart from the runs."""
        return ()

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Compute. Raises DataError if a run has none of the tasks."""
        rows = [row for run in open_runs(runs) for row in _rows(run)]
        notes = (
            "A dimension is the mean over tasks of a task's mean over its metrics; overall is the mean of the three.",
            "CreativeMath is never among the tasks. Judges and wording are not the paper's: docs/creativityprism.md.",
        )
        return AnalysisOutput("CreativityPrism by dimension and domain", _COLUMNS, rows, notes)


def overall(dimensions: Sequence[float]) -> float:
    """Return the mean of the three dimensions."""
    return fsum(dimensions) / len(dimensions)


def _rows(run: Run) -> Iterator[Sequence[Any]]:
    numbers = list(_numbers(run))
    if not numbers:
        raise DataError(
            "the run has no task of CreativityPrism", where=str(run.folder), fix="Run --tasks creativityprism."
        )
    found = {}
    for dimension in DIMENSIONS:
        own = [each for each in numbers if each.dimension == dimension]
        if own:
            found[dimension] = _combined([_by_task(own, part) for part in _parts(own)])
            yield _row(run, "dimension", dimension, found[dimension], own)
    for domain in dict.fromkeys(part.domain for part in _PARTS):
        own = [each for each in numbers if each.part.domain == domain]
        if own:
            yield _row(run, "domain", domain, _combined([(each.value, each.error) for each in own]), own)
    if len(found) == len(DIMENSIONS):
        yield _row(run, "all", "overall", _combined(list(found.values())), numbers)


def _row(run: Run, of: str, name: str, number: tuple[float, float | None], own: Sequence[_Number]) -> Sequence[Any]:
    there = _parts(own)
    possible = [part for part in _PARTS if of == "all" or name in (part.domain, *part.metrics.values())]
    absent = [part.name for part in possible if part not in there]
    return (run.folder.name, of, name, *number, ", ".join(part.name for part in there), ", ".join(absent))


def _parts(numbers: Sequence[_Number]) -> list[_Part]:
    return [part for part in _PARTS if any(each.part is part for each in numbers)]


def _by_task(numbers: Sequence[_Number], part: _Part) -> tuple[float, float | None]:
    return _combined([(each.value, each.error) for each in numbers if each.part is part])


def _combined(numbers: Sequence[tuple[float, float | None]]) -> tuple[float, float | None]:
    """Return the mean and its standard error, None if one part has none; parts count as independent."""
    value = fsum(value for value, _ in numbers) / len(numbers)
    errors = [error for _, error in numbers if error is not None]
    return value, sqrt(fsum(error**2 for error in errors)) / len(numbers) if len(errors) == len(numbers) else None


def _numbers(run: Run) -> Iterator[_Number]:
    """Yield each task's number of each metric, the states of NeoCoder as one task, on a scale from 0 to 1."""
    for part in _PARTS:
        results = [result for result in run.results["tasks"] if re.fullmatch(part.tasks, result["task"])]
        for name, dimension in part.metrics.items():
            found = [number for result in results if (number := _scaled(result, name)) is not None]
            if found:
                yield _Number(part, dimension, *_combined(found))


def _scaled(result: Mapping[str, Any], name: str) -> tuple[float, float | None] | None:
    for metric in result["metrics"]:
        if metric["name"].partition("[")[0] == name and metric["condition"] is None and "by" not in metric:
            if metric["value"] is None:
                return None
            low, high = metric["definition"]["range"]
            low, high = (0.0, 1.0) if metric["definition"]["binary"] or low is None else (low, high)
            span = _TOP.get(name, high) - low
            error = metric["standard_error"]
            return (metric["value"] - low) / span, None if error is None else error / span
    return None

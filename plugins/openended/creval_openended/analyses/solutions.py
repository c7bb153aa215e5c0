"""The measured solutions of runs: one row per solution, with the interval over its candidates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec, RunError, open_runs
from creval_openended.analyses.output import OPTIONS, finished

__all__ = ["SolutionRow", "Solutions", "read_solutions"]

COLUMNS = ("task", "model", "doc", "steps", "candidates", "entropy", "low", "high", "relative", "estimator", "repeats")


@dataclass(frozen=True, slots=True)
class SolutionRow:
    """One solution. `scores` are all its scores, also those of other scorers. `entropy` is the semantic entropy,
    or else its count estimator; `interval` the 95 % interval over its candidates. `repeats`: two consecutive steps are
    the same.
    """

    task: str
    model: str
    doc: str
    entropy: float
    estimator: str
    interval: tuple[float, float] | None
    repeats: bool
    scores: Mapping[str, float]

    @property
    def problem(self) -> str:
        """Return the key by which solutions depend on each other: task and doc."""
        return f"{self.task}/{self.doc}"


def read_solutions(runs: Sequence[str], task: str | None = None) -> list[SolutionRow]:
    """Read the solutions of runs that have an entropy. Raises RunError if there are none."""
    rows = [row for run in open_runs(runs) for row in _of_run(run, task)]
    if not rows:
        raise RunError(
            "there is no solution with an entropy",
            where=", ".join(runs),
            fix="Name runs of macgyver, hypogen, bookmia or of a task that includes openended/openended.",
        )
    return rows


def _of_run(run: Any, task: str | None) -> Iterator[SolutionRow]:
    for sample, score in run.scored(task):
        semantic = score.scores.get("semantic_entropy")
        entropy = score.scores.get("semantic_entropy_count") if semantic is None else semantic
        if entropy is None:
            continue
        given = score.details.get("candidate_interval")
        yield SolutionRow(
            task=sample.key.task,
            model=run.model,
            doc=sample.key.doc,
            entropy=entropy,
            estimator="count" if semantic is None else "semantic",
            interval=(given[0], given[1]) if given else None,
            repeats=bool(score.details.get("repeated_step")),
            scores=score.scores,
        )


class Solutions:
    """Every solution with its entropy and the jackknife interval over its candidates."""

    def options(self) -> Sequence[FieldSpec]:
        """Return the options."""
        return OPTIONS

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """List the solutions, the most diverse first."""
        found = read_solutions(runs, options.get("task"))
        found.sort(key=lambda row: (row.task, row.model, -row.entropy, row.doc))
        rows = [
            (
                row.task,
                row.model,
                row.doc,
                int(row.scores.get("steps", 0)),
                row.scores.get("candidates"),
                row.entropy,
                *(row.interval or (None, None)),
                row.scores.get("relative_entropy"),
                row.estimator,
                "yes" if row.repeats else "no",
            )
            for row in found
        ]
        notes = [
            "low, high: the 95 % interval of the solution's entropy by the jackknife over its candidates; none where "
            "leaving out a candidate changes nothing. relative: entropy over its bound ln m.",
        ]
        return finished("solutions", "Entropy of single solutions", (COLUMNS, rows), notes, options)

"""`creval analyse openended-correlations`, `-steps`, `-classes` and `-confounds`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec, RunError, UsageError
from creval_openended.analyses.averages import averaged, grouped
from creval_openended.analyses.correlation import COLUMNS, spearman_by_problem
from creval_openended.analyses.output import OPTIONS, finished
from creval_openended.analyses.solutions import read_solutions
from creval_openended.analyses.steps import MEASURES, StepRow, read_steps

__all__ = ["Classes", "Confounds", "Correlations", "Steps"]

_OF_SOLUTIONS = ("naive_entropy", "semantic_entropy_min", "semantic_entropy_max", "classes", "steps")
_COUNTED = "Where a provider gives no log-probabilities the entropy is its count estimator (estimator: count)."
_CLUSTERED = "The interval redraws problems, since steps of one problem depend on each other; p is the paper's own."


class _OverSteps:
    """An analysis of the steps of runs."""

    def options(self) -> Sequence[FieldSpec]:
        """Return the options."""
        return OPTIONS


class Correlations(_OverSteps):
    """Entropy against the surface measures, by step (Tables 8 to 10) or by solution (Tables 13, 14 and 20)."""

    def options(self) -> Sequence[FieldSpec]:
        """Return the options."""
        return (
            *OPTIONS,
            FieldSpec("by", "string", "step", "step, or solution: means of solutions, against any of their scores."),
            FieldSpec("score", "string", (), "With --by solution: a further score, e.g. of a judge.", True),
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Correlate within each model and task."""
        by = options.get("by") or "step"
        if by not in ("step", "solution"):
            raise UsageError(f"there is nothing called {by!r} to correlate by", where="--by", fix="step or solution")
        rows = _by_step(runs, options) if by == "step" else _by_solution(runs, options)
        table = (("task", "model", "measure", "estimator", *COLUMNS), rows)
        return finished("correlations", f"Entropy and diversity by {by}", table, [_CLUSTERED, _COUNTED], options)


def _by_step(runs: Sequence[str], options: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    rows = []
    steps = read_steps(runs, options.get("task"))
    for (task, model, estimator), some in grouped(steps, lambda row: (row.task, row.model, row.estimator)):
        for measure in MEASURES:
            pairs = [(row.entropy, at, row.problem) for row in some if (at := row.surface[measure]) is not None]
            rows.append((task, model, measure, estimator, *spearman_by_problem(pairs).numbers))
    return rows


def _by_solution(runs: Sequence[str], options: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    measures = dict.fromkeys((*_OF_SOLUTIONS, *MEASURES, *(options.get("score") or ())))
    rows = []
    found = read_solutions(runs, options.get("task"))
    for (task, model, estimator), some in grouped(found, lambda row: (row.task, row.model, row.estimator)):
        for measure in measures:
            pairs = [(row.entropy, row.scores[measure], row.problem) for row in some if measure in row.scores]
            if not pairs and measure in (options.get("score") or ()):
                raise RunError(f"no solution of {task!r} has the score {measure!r}", where=model)
            if pairs:
                rows.append((task, model, measure, estimator, *spearman_by_problem(pairs).numbers))
    return rows


class Steps(_OverSteps):
    """Entropy by the number of the step (H.3, Figure 21)."""

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Average within each model, task and step number."""
        table, plot = averaged("step", lambda row: row.number, read_steps(runs, options.get("task")))
        return finished("steps", "Entropy by step", table, [_COUNTED], options, plot)


class Classes(_OverSteps):
    """Entropy by the number of classes, and a histogram of that number (Figure 5a, H.2, Figure 20)."""

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Average within each model, task and number of classes; the column steps is the histogram."""
        steps = read_steps(runs, options.get("task"))
        sampled = sorted(Counter(row.candidates for row in steps).items())
        note = "Usable candidates a step: " + ", ".join(f"{count} ({times} steps)" for count, times in sampled) + "."
        table, plot = averaged("classes", lambda row: row.classes, steps)
        return finished("classes", "Entropy by classes of meaning", table, [note, _COUNTED], options, plot)


class Confounds(_OverSteps):
    """Entropy against confounds: length of candidates, number of the step, usable candidates, temperature."""

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Correlate within each model and task."""
        sides: dict[str, Callable[[StepRow], float | None]] = {
            "words": lambda row: row.words,
            "step": lambda row: float(row.number),
            "candidates": lambda row: float(row.candidates),
            "temperature": lambda row: row.temperature,
        }
        rows = []
        for (task, model), some in grouped(read_steps(runs, options.get("task")), lambda row: (row.task, row.model)):
            for name, side in sides.items():
                pairs = [(row.entropy, value, row.problem) for row in some if (value := side(row)) is not None]
                if pairs:
                    rows.append((task, model, name, *spearman_by_problem(pairs).numbers))
        notes = ["Without a rho: one side is the same everywhere.", _CLUSTERED, _COUNTED]
        table = (("task", "model", "against", *COLUMNS), rows)
        return finished("confounds", "Entropy and what it may merely follow", table, notes, options)

"""`creval analyse diversity-collapse`: the number of different answers and their similarity, by condition."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from creval.plugin import AnalysisOutput, DataError, FieldSpec, open_runs
from creval.plugin.statistics import Estimate, estimate_mean
from creval_analyses.figures import COLOURS, add_legend, error_lengths
from creval_diversity.analyses.output import FIGURES, OPTIONS, finished

__all__ = ["Collapse"]

_COUNTS = ("distinct_classifier", "classes_embedding", "classes_entailment", "classes_exact")
_SIMILARITY = "similarity"
_UTILITY = "judged_utility"
Key = tuple[str, str, str]
Found = Mapping[Key, Mapping[str, Estimate]]


class Collapse:
    """A row for each task, model and condition; means over docs with intervals."""

    example = "runs/one runs/other --output figures"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options."""
        return OPTIONS

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Read the scores of the runs. Raises DataError if no task counts classes of answers."""
        found = _estimates(runs, options.get("task"))
        names = [name for name in (*_COUNTS, _SIMILARITY, _UTILITY) if any(name in each for each in found.values())]
        if not names:
            raise DataError("no task of these runs counts classes of answers", fix="Run noveltybench or diversity_own.")
        columns = ["task", "model", "condition", "docs"]
        for name in names:
            columns += [name, f"{name} low", f"{name} high"]
        rows = []
        for key, each in sorted(found.items()):
            row: list[Any] = [*key, max(one.clusters for one in each.values())]
            for name in names:
                one = each.get(name)
                row += [None] * 3 if one is None else [one.value, one.ci_low, one.ci_high]
            rows.append(row)
        notes = (
            "classes_*: different answers among all to a doc, 1 where they collapse into one. similarity: mean cosine "
            "of their pairs. Means over docs with 95 % intervals.",
        )
        plot = _plot(found, names)
        return finished("collapse", "Diversity of answers by condition", (columns, rows), notes, options, plot)


def _estimates(runs: Sequence[str], task: str | None) -> Found:
    values: defaultdict[Key, defaultdict[str, defaultdict[str, list[float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for run in open_runs(runs):
        for score in run.scores(task):
            of = values[score.key.task, run.model, score.key.condition]
            for name in (*_COUNTS, _UTILITY):
                if name in score.scores:
                    of[name][score.key.doc].append(score.scores[name])
            if "set_distance" in score.scores:
                of[_SIMILARITY][score.key.doc].append(1.0 - score.scores["set_distance"])
    return {
        key: {name: estimate_mean([fmean(some) for some in docs.values()]) for name, docs in of.items()}
        for key, of in values.items()
        if of
    }


def _plot(found: Found, names: Sequence[str]) -> Callable[[Path], Sequence[Path]]:
    """Draw a panel per number: the conditions side by side, a point with its interval for each task and model."""
    series = list(dict.fromkeys((task, model) for task, model, _ in sorted(found)))
    conditions = list(dict.fromkeys(condition for _, _, condition in sorted(found)))

    def plot(base: Path) -> Sequence[Path]:
        width = max(3.6, 1.3 * len(conditions))
        with FIGURES.draw(1, len(names), width * len(names), 3.6) as (drawn, axes):
            for axis, name in zip(axes, names, strict=True):
                for number, (task, model) in enumerate(series):
                    points = [
                        (place + 0.6 * (number + 0.5) / len(series) - 0.3, one)
                        for place, condition in enumerate(conditions)
                        if (one := found.get((task, model, condition), {}).get(name)) is not None
                    ]
                    at, values = (
                        [x for x, _ in points],
                        [math.nan if one.value is None else one.value for _, one in points],
                    )
                    lengths = error_lengths(
                        values, [one.ci_low for _, one in points], [one.ci_high for _, one in points]
                    )
                    colour = COLOURS[number % len(COLOURS)]
                    axis.errorbar(at, values, yerr=lengths, fmt="o", capsize=2, color=colour, label=f"{model}, {task}")
                labels = [condition.replace(",", "\n") for condition in conditions]
                axis.set_xticks(range(len(conditions)), labels)
                axis.set_ylabel(name)
                axis.set_ylim(bottom=None if name == _SIMILARITY else 0)
            add_legend(drawn, axes)
            return FIGURES.save(drawn, base)

    return plot

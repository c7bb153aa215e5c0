"""`creval analyse openended-performance`: entropy next to criteria by model (Tables 3 to 5, 18; Figures 6 and 17)."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from creval.plugin import AnalysisOutput, DataError, FieldSpec, Run, RunError, ScoreRecord, open_runs
from creval_analyses.figures import COLOURS, add_legend, whole_numbers
from creval_openended.analyses.output import FIGURES, OPTIONS, finished
from creval_openended.stepwise.filtering import UNFILTERED
from creval_openended.stepwise.outcome import has_filter, left_out

__all__ = ["Performance", "overall"]

COLUMNS = ("task", "model", "n", "entropy", "entropy_unfiltered", "criterion", "share", "share_unfiltered")
_MODELS = FieldSpec(
    "models",
    "file",
    None,
    "CSV with model, family and place (size or version): entropy and overall by place, a line per family.",
)
_NOTES = (
    "overall is the mean of the criteria, over solutions that have a verdict on each. Where a task leaves out "
    "solutions that repeat a step (bookmia), entropy and share do so too (Table 5); unfiltered keeps them (Table 18).",
)
_OVERALL = "overall"


class Performance:
    """One row per task, model and criterion, `overall` last."""

    def options(self) -> Sequence[FieldSpec]:
        """Return the options."""
        return (*OPTIONS, _MODELS)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Tabulate the runs."""
        rows = [row for run in open_runs(runs) for task in _tasks(run, options.get("task")) for row in _rows(run, task)]
        if not rows:
            raise RunError(
                "there are no judged solutions", where=", ".join(runs), fix="Name runs of macgyver_jury, ..."
            )
        plot = _plot(rows, _places(Path(options["models"]))) if options.get("models") else None
        return finished("performance", "Divergent and convergent creativity", (COLUMNS, rows), _NOTES, options, plot)


def overall(shares: Sequence[float]) -> float:
    """Return the mean of the criteria, called Overall in the paper's tables."""
    return fmean(shares)


def _tasks(run: Run, task: str | None) -> Sequence[str]:
    return [task] if task else run.tasks


def _rows(run: Run, task: str) -> list[tuple[Any, ...]]:
    judged = [(sample, score) for sample, score in run.scored(task) if "jury" in score.details]
    if not judged:
        return []
    scores = [score for _, score in judged]
    kept = [score for sample, score in judged if left_out(sample.outcome) is None]
    ends = UNFILTERED if any(has_filter(sample.outcome) for sample, _ in judged) else ""
    head = (task, run.model, len(kept), _mean(kept, "semantic_entropy"), _mean(scores, "semantic_entropy_unfiltered"))
    criteria = [*scores[0].details["jury"]["asked"], _OVERALL]
    return [(*head, name, _mean(kept, name), _mean(scores, name + ends)) for name in criteria]


def _mean(scores: Sequence[ScoreRecord], name: str) -> float | None:
    values = [score.scores[name] for score in scores if name in score.scores]
    return fmean(values) if values else None


def _places(file: Path) -> Mapping[str, tuple[str, float]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            return {row["model"]: (row["family"], float(row["place"])) for row in csv.DictReader(lines)}
    except (OSError, KeyError, ValueError) as error:
        raise DataError(
            f"the models cannot be read: {error}",
            where=str(file),
            fix="Write columns model, family, place (a number).",
        ) from error


def _plot(rows: Sequence[Sequence[Any]], places: Mapping[str, tuple[str, float]]) -> Callable[[Path], Sequence[Path]]:
    """Draw entropy and overall by the coordinates of each model; models not in the file are not drawn."""
    lines: list[dict[str, list[tuple[float, float]]]] = [{}, {}]
    for task, model, _, entropy, _, criterion, share, _ in rows:
        if model in places and criterion == _OVERALL:
            family, place = places[model]
            for side, value in zip(lines, (share, entropy), strict=True):
                if value is not None:
                    side.setdefault(f"{family}, {task}", []).append((place, value))

    def plot(base: Path) -> Sequence[Path]:
        with FIGURES.draw(1, 2, 9.0, 4.0) as (drawn, axes):
            for axis, side, name in zip(axes, lines, (_OVERALL, "entropy (nats)"), strict=True):
                for number, (label, points) in enumerate(side.items()):
                    colour = COLOURS[number % len(COLOURS)]
                    axis.plot(*zip(*sorted(points), strict=True), "o-", label=label, color=colour)
                axis.set_xlabel("place")
                axis.set_ylabel(name)
                heights = [value for points in side.values() for _, value in points]
                axis.set_ylim(0, 1.02 if name == _OVERALL else 1.1 * max(heights, default=0) or 1)
                if all(place.is_integer() for points in side.values() for place, _ in points):
                    whole_numbers(axis.xaxis)
            add_legend(drawn, axes)
            return FIGURES.save(drawn, base)

    return plot

"""Agreement of judges: runs that judged the same samples, scores of one run, and people's labels, pair by pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from creval.plugin import Run, SampleKey, UnknownNameError, UsageError, open_run
from creval.plugin.plots import fold_name, number
from creval.plugin.statistics import agreement
from creval_agreement.labels import match_samples, read_labels
from creval_plot.board import Source, folder_of, no_metric, short_names
from creval_plot.figure_format import inches
from creval_plot.heatmap_plot import cell_texts, name_columns
from creval_plot.panels import folded, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Ratings", "judges", "ratings_of"]

Ratings = Mapping[str, Mapping[SampleKey, float]]
"""What each rater said of each sample."""
_CLASSES = 10


def judges(
    runs: Sequence[Source],
    scores: Sequence[str],
    task: str | None = None,
    labels: str | Path | None = None,
    width: str | float = "column",
    style: str | Path | None = None,
) -> Figure:
    """Return a figure with a cell per pair of raters: Cohen's kappa for few whole numbers, else Pearson's r.

    Raters are the runs (the same answers, scored with different judges), the scores of a run where several are named,
    and the annotators of `labels` (a file as `creval analyse judge-agreement` reads it). Each cell is over the samples
    that both rated. Raises RunError, DataError, UnknownNameError, UsageError.
    """
    ratings = ratings_of(runs, scores, task, labels)
    if len(ratings) < 2:
        fix = "Name several runs of the same answers, several scores, or people's labels."
        raise UsageError("agreement needs two raters", where="judges", fix=fix)
    values = {value for rated in ratings.values() for value in rated.values()}
    classes = len(values) <= _CLASSES and all(float(value).is_integer() for value in values)
    names = list(ratings)
    cells = np.full((len(names), len(names)), np.nan)
    texts = [["" for _ in names] for _ in names]
    for y, one in enumerate(names):
        for x, other in enumerate(names[:y]):
            shared = sorted(ratings[one].keys() & ratings[other].keys())
            found = agreement([ratings[other][key] for key in shared], [ratings[one][key] for key in shared])
            value = found.kappa if classes else found.pearson
            cells[y, x] = np.nan if value is None else value
            texts[y][x] = f"{'–' if value is None else number(value, 2)}\nn={len(shared)}"
    total = inches(width)
    tall = 0.75 + (len(names) - 1) * max(0.34, min(0.6, 0.5 * total / len(names)))
    with panels(1, total, tall, style) as (figure, (axis,)):
        shown = np.ma.masked_invalid(cells[1:, :-1])
        image = axis.imshow(shown, vmin=0, vmax=1, cmap="Blues", aspect="auto")
        cell_texts(axis, [row[:-1] for row in texts[1:]], cells[1:, :-1])
        axis.set_yticks(range(len(names) - 1), folded(names[1:], 0.28 * total))
        name_columns(axis, [fold_name(name, 18) for name in names[:-1]], 0.5 * total)
        bar = figure.colorbar(image, ax=axis, aspect=9 * figure.get_figheight(), pad=0.02, ticks=[0, 0.5, 1])
        bar.set_label("Cohen's kappa" if classes else "Pearson's r")
        bar.outline.set_visible(False)
        return figure


def ratings_of(
    runs: Sequence[Source], scores: Sequence[str], task: str | None = None, labels: str | Path | None = None
) -> dict[str, dict[SampleKey, float]]:
    """Return what each rater said of each sample. Raises RunError, DataError, UnknownNameError, UsageError."""
    if not scores:
        raise UsageError("agreement needs a score", where="judges", fix="Name the score that the judges gave.")
    opened = [open_run(folder, as_stored=True) for folder in dict.fromkeys(map(folder_of, runs))]
    found: dict[str, dict[SampleKey, float]] = {}
    for run, judge in zip(opened, _judge_names(opened), strict=True):
        for score in scores:
            words = [judge] * (len(opened) > 1) + [score] * (len(scores) > 1)
            found[", ".join(words) or judge] = _rated(run, _task(run, task), score)
    if labels is not None:
        file = read_labels(Path(labels), ())
        every = {key: 0.0 for rated in found.values() for key in rated}
        people: dict[str, dict[SampleKey, float]] = {}
        for key in every:
            for rated in match_samples(file, {key: 0.0}):
                for annotator, label in rated.people:
                    people.setdefault(annotator or "people", {})[key] = label
        if not people:
            raise no_metric(str(labels), "No label is of a sample that was judged.")
        found = people | found
    return found


def _judge_names(runs: Sequence[Run]) -> list[str]:
    """Return the judges of runs (their other roles than the target), else the folders."""
    named = [
        ", ".join(dict.fromkeys(str(model) for role, model in run.manifest["roles"].items() if role != "target"))
        for run in runs
    ]
    if all(named) and len(set(named)) == len(named):
        return short_names(named)
    return [run.folder.name for run in runs]


def _task(run: Run, task: str | None) -> str:
    if task is None and len(run.tasks) == 1:
        return run.tasks[0]
    if task not in run.tasks:
        hint = f"It has: {', '.join(run.tasks)}."
        raise UnknownNameError("task", task or "(none)", run.tasks, where=str(run.folder), hint=hint)
    return task


def _rated(run: Run, task: str, score: str) -> dict[SampleKey, float]:
    found = {record.key: record.scores[score] for record in run.scores(task) if score in record.scores}
    if not found:
        known = sorted({name for record in run.scores(task) for name in record.scores})
        raise UnknownNameError("score", score, known, where=f"{run.folder}, task {task}")
    return found

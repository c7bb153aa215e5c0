"""Agreement of judges: runs that judged the same samples, scores of one run, and people's labels, pair by pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from creval.plugin import JudgedPart, Run, SampleKey, UnknownNameError, UsageError, open_run
from creval.plugin.plots import fold_name, number
from creval_agreement.judged_parts import judged_parts
from creval_agreement.labels import SAMPLE_COLUMNS, Labels, columns_of, labels_of_parts, read_labels
from creval_agreement.two_raters import agreement
from creval_plot.board import Source, folder_of, no_metric, one_task, short_names
from creval_plot.figure_format import inches
from creval_plot.heatmap_plot import cell_texts, name_columns
from creval_plot.panels import folded, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Ratings", "judges", "ratings_of"]

Thing = tuple[SampleKey, int]
"""A rated item: a sample (part 0), or a part of it by its index among those of its kind."""
Ratings = dict[str, dict[Thing, float]]
"""The rating of each item by each rater."""
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

    Raters are the runs (the same answers, scored with different judges), the scores of a run if several are named,
    and the annotators of `labels` (a file as for `creval analyse judge-agreement`). Each cell is over the samples
    that both rated, or over the parts of samples (paths, triples) if the labels are about parts.

    Raises RunError, DataError, UnknownNameError, UsageError.
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
) -> Ratings:
    """Return each rater's rating of each sample, or of each part of it if the labels are about parts.

    Raises RunError, DataError, UnknownNameError, UsageError.
    """
    if not scores:
        raise UsageError("agreement needs a score", where="judges", fix="Name the score that the judges gave.")
    opened = [open_run(folder, as_stored=True) for folder in dict.fromkeys(map(folder_of, runs))]
    judges = _judge_names(opened)
    found: Ratings = {}
    people: Ratings = {}
    for run, judge in zip(opened, judges, strict=True):
        named = one_task(run.tasks, task, str(run.folder))
        file, parts = _labels(run, named, labels)
        for score in scores:
            words = [judge] * (len(opened) > 1) + [score] * (len(scores) > 1)
            rated = _rated(run, named, score) if file is None or not file.parts else _rated_parts(parts, score)
            if not rated:
                known = sorted({name for _, part in parts for name in part.ratings})
                raise UnknownNameError("rating", score, known, where=f"{run.folder}, task {named}")
            found[", ".join(words) or judge] = rated
        for annotator, said in _people(file, parts, [thing for rated in found.values() for thing in rated]).items():
            people.setdefault(annotator, {}).update(said)
    if labels is not None and not people:
        raise no_metric(str(labels), "No label is of anything that was judged.")
    return people | found


def _labels(
    run: Run, task: str, path: str | Path | None
) -> tuple[Labels | None, Sequence[tuple[SampleKey, JudgedPart]]]:
    """Read the labels, and the parts of the samples that they are about (none: whole samples)."""
    if path is None:
        return None, ()
    file = Path(path)
    if all(column in SAMPLE_COLUMNS for column in columns_of(file)):
        return read_labels(file, ()), ()
    judged = list(judged_parts(run, task))
    labels = read_labels(file, list(dict.fromkeys(column for _, part in judged for column in part.names)))
    return labels, [(key, part) for key, part in judged if part.unit == labels.unit]


def _places(parts: Sequence[tuple[SampleKey, JudgedPart]]) -> list[Thing]:
    counts: Counter[SampleKey] = Counter()
    found = []
    for key, _ in parts:
        found.append((key, counts[key]))
        counts[key] += 1
    return found


def _rated_parts(parts: Sequence[tuple[SampleKey, JudgedPart]], score: str) -> dict[Thing, float]:
    both = zip(_places(parts), parts, strict=True)
    return {thing: part.ratings[score] for thing, (_, part) in both if score in part.ratings}


def _people(labels: Labels | None, parts: Sequence[tuple[SampleKey, JudgedPart]], things: Sequence[Thing]) -> Ratings:
    """Return each annotator's ratings of the judged items."""
    found: Ratings = {}
    if labels is None:
        return found
    if labels.parts:
        every = list(zip(_places(parts), labels_of_parts(labels, parts), strict=True))
    else:
        every = [(thing, labels.values.get(labels.base(thing[0]), ())) for thing in dict.fromkeys(things)]
    for thing, said in every:
        for annotator, label in said:
            found.setdefault(annotator or "people", {})[thing] = label
    return found


def _judge_names(runs: Sequence[Run]) -> list[str]:
    """Return the judges of runs (their roles other than the target), else the folders."""
    named = [
        ", ".join(dict.fromkeys(str(model) for role, model in run.manifest["roles"].items() if role != "target"))
        for run in runs
    ]
    if all(named) and len(set(named)) == len(named):
        return short_names(named)
    return [run.folder.name for run in runs]


def _rated(run: Run, task: str, score: str) -> dict[Thing, float]:
    found = {(record.key, 0): record.scores[score] for record in run.scores(task) if score in record.scores}
    if not found:
        known = sorted({name for record in run.scores(task) for name in record.scores})
        raise UnknownNameError("score", score, known, where=f"{run.folder}, task {task}")
    return found

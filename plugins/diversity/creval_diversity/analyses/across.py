"""`creval analyse diversity-across`: the similarity of answers within and across models.

The measure of Artificial Hivemind (Jiang et al. 2025, arXiv:2510.22954): the mean cosine over pairs of answers to one
prompt, within a model and between two. The encoder is that of the task.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np

from creval.plugin import AnalysisOutput, DataError, FieldSpec, open_runs
from creval.plugin.statistics import estimate_mean
from creval_analyses.options import open_workbench, part_options
from creval_diversity.analyses.output import FIGURES, OPTIONS, finished

__all__ = ["Across", "drawn", "mean_cosine"]

_DARK = 0.6
"""Cells with this similarity or more are too dark for black letters."""

Vectors = np.ndarray[Any, np.dtype[np.float64]]
Place = tuple[str, str, str]
"""Task, condition and doc."""


class Across:
    """A row for each pair of models (a model with itself: within) and condition; means over shared docs."""

    example = "runs/one runs/other --output figures"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options."""
        return (*OPTIONS, *part_options(resources=True))

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Embed the answers once and compare them. Raises DataError if the runs share no doc."""
        opened = open_runs(runs)
        names = _names([run.model for run in opened])
        answers = [_answers(run.samples(options.get("task"), status="scored")) for run in opened]
        texts = list(dict.fromkeys(text for each in answers for some in each.values() for text in some))
        if not texts:
            raise DataError("the runs have no answers", fix="Name runs of a task with repeats, such as diversity_own.")
        task = next(place[0] for each in answers for place in each)
        first = next(run for run, each in zip(opened, answers, strict=True) if any(place[0] == task for place in each))
        with open_workbench(options) as bench:
            vectors = _unit(bench.resource_of(first, task, "embedding").embed(texts))
        of = dict(zip(texts, vectors, strict=True))
        found = [{place: np.array([of[text] for text in some]) for place, some in each.items()} for each in answers]
        rows = _rows(names, found)
        if not rows:
            raise DataError("no doc has two answers to compare", fix="Run with --repeats 2 or more.")
        columns = ("task", "condition", "model", "other", "docs", "similarity", "low", "high")
        notes = (
            "similarity: mean cosine over pairs of answers to one doc; of a model with itself over the pairs of its "
            "own answers. Means over docs that both answered, with 95 % intervals.",
        )
        title = "Similarity of answers within and across models"
        return finished("across", title, (columns, rows), notes, options, drawn(names, rows))


def mean_cosine(one: Vectors, other: Vectors | None = None) -> float | None:
    """Return the mean cosine of unit vectors over all pairs between two sets, or within one; None without pairs."""
    if other is not None:
        return float(np.mean(one @ other.T)) if len(one) and len(other) else None
    n = len(one)
    return float((np.sum(one @ one.T) - n) / (n * (n - 1))) if n > 1 else None


def _rows(names: Sequence[str], found: Sequence[Mapping[Place, Vectors]]) -> list[Sequence[Any]]:
    rows: list[Sequence[Any]] = []
    groups = sorted({place[:2] for each in found for place in each})
    for task, condition in groups:
        for one, other in combinations_with_replacement(range(len(names)), 2):
            values = [
                value
                for place in found[one]
                if place[:2] == (task, condition)
                and place in found[other]
                and (value := mean_cosine(found[one][place], None if one == other else found[other][place])) is not None
            ]
            if values:
                mean = estimate_mean(values)
                numbers = (len(values), mean.value, mean.ci_low, mean.ci_high)
                rows.append((task, condition, names[one], names[other], *numbers))
    return rows


def _answers(samples: Any) -> dict[Place, list[str]]:
    found: defaultdict[Place, list[str]] = defaultdict(list)
    for sample in samples:
        found[sample.key.task, sample.key.condition, sample.key.doc] += [
            text for text in sample.answers if text.strip()
        ]
    return {place: some for place, some in found.items() if some}


def _names(models: Sequence[str]) -> list[str]:
    """Return the models' names, numbered if a name occurs twice."""
    return [
        model if models.count(model) == 1 else f"{model} ({models[: place + 1].count(model)})"
        for place, model in enumerate(models)
    ]


def _unit(vectors: Any) -> Vectors:
    found = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.where(norms > 0, norms, 1.0))


def drawn(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Callable[[Path], Sequence[Path]]:
    """Draw a matrix of models for each task and condition."""
    groups = list(dict.fromkeys((row[0], row[1]) for row in rows))

    def plot(base: Path) -> Sequence[Path]:
        side = 2.0 + 0.8 * len(names)
        with FIGURES.draw(1, len(groups), side * len(groups), side + 1.2) as (drawn, axes):
            for axis, group in zip(axes, groups, strict=True):
                matrix = np.full((len(names), len(names)), np.nan)
                for row in (each for each in rows if (each[0], each[1]) == group):
                    one, other = names.index(row[2]), names.index(row[3])
                    matrix[one, other] = matrix[other, one] = row[5]
                    for at in {(one, other), (other, one)}:
                        axis.text(
                            at[1],
                            at[0],
                            f"{row[5]:.2f}",
                            ha="center",
                            va="center",
                            color="white" if row[5] > _DARK else "black",
                        )
                axis.imshow(matrix, vmin=0, vmax=1, cmap="Oranges")
                axis.set_xticks(range(len(names)), names, rotation=30, ha="right")
                axis.set_yticks(range(len(names)), names)
                axis.set_title("\n".join((group[0], *group[1].split(","))))
            return FIGURES.save(drawn, base)

    return plot

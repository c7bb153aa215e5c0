"""Mean entropy grouped by a property of steps, as a table and as a line plot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from creval_analyses.figures import COLOURS, add_legend
from creval_openended.analyses.output import FIGURES
from creval_openended.analyses.steps import StepRow

__all__ = ["averaged", "grouped"]

Key = TypeVar("Key", bound=Any)
RowT = TypeVar("RowT")
Table = tuple[Sequence[str], Sequence[Sequence[Any]]]


def grouped(rows: Iterable[RowT], key: Callable[[RowT], Key]) -> list[tuple[Key, list[RowT]]]:
    """Group the rows by a key, sorted by the key."""
    groups: dict[Key, list[RowT]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return sorted(groups.items())


def averaged(
    column: str, value: Callable[[StepRow], float], rows: Sequence[StepRow]
) -> tuple[Table, Callable[[Path], Sequence[Path]]]:
    """Return the table of mean entropies (a row per task, model and value) and its plot function (a line per model)."""
    found = []
    lines: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (task, model), steps in grouped(rows, lambda row: (row.task, row.model)):
        for at, some in grouped(steps, value):
            entropies = [row.entropy for row in some]
            mean = float(np.mean(entropies))
            spread = float(np.std(entropies, ddof=1)) if len(entropies) > 1 else None
            found.append((task, model, at, len(some), mean, spread))
            lines[f"{model}, {task}"].append((at, mean))

    def plot(base: Path) -> Sequence[Path]:
        with FIGURES.draw(1, 1, 6.0, 4.0) as (drawn, axes):
            for number, (label, points) in enumerate(lines.items()):
                axes[0].plot(*zip(*points, strict=True), "o-", label=label, color=COLOURS[number % len(COLOURS)])
            axes[0].set_xlabel(column)
            axes[0].set_ylabel("entropy (nats)")
            axes[0].set_ylim(0, 1.1 * max((row[4] for row in found), default=0) or 1)
            if all(float(row[2]).is_integer() for row in found):
                axes[0].set_xticks(sorted({int(row[2]) for row in found}))
            add_legend(drawn, axes)
            return FIGURES.save(drawn, base)

    return (("task", "model", column, "steps", "entropy", "sd"), found), plot

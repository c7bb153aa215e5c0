"""`creval analyse create-distribution`: the distribution of the utility over queries (Figure 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from creval.plugin import AnalysisOutput, FieldSpec
from creval_analyses.figures import COLOURS, whole_numbers
from creval_create.analysis.numbers import grouped
from creval_create.analysis.output import OUTPUT, PLOTS, Found, finish
from creval_create.analysis.sets import read_sets
from creval_create.utility.rules import MAIN_PATIENCE, Rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CreateDistribution"]

_QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_COLUMNS = ("model", "task", "queries", "empty", *(f"q{int(100 * q)}" for q in _QUANTILES))


class CreateDistribution:
    """Kind `analysis`: quantiles of the utility at patience 0.9 over queries, and the number of empty sets."""

    example = "runs/mine --output figures"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse create-distribution`."""
        return (FieldSpec("variant", "string", "paper", "Rules: paper or released."), OUTPUT, PLOTS)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Compute the quantiles of each model and task."""
        rules = Rules.of(options.get("variant") or "paper")
        values: dict[str, list[float]] = {}
        rows: list[Sequence[Any]] = []
        for (model, task), sets in grouped(((one.model, one.task), one) for one in read_sets(runs)).items():
            worth = [one.worth(rules, MAIN_PATIENCE) for one in sets]
            empty = sum(not one.counted(rules) for one in sets)
            values[f"{model}, {task}"] = worth
            rows.append((model, task, len(sets), empty, *(float(q) for q in np.quantile(worth, _QUANTILES))))

        def draw(axes: Axes) -> None:
            edges = np.histogram_bin_edges(np.concatenate(list(map(np.array, values.values()))), bins=20)
            for place, (name, worth) in enumerate(values.items()):
                axes.hist(worth, bins=list(edges), histtype="step", label=name, color=COLOURS[place % len(COLOURS)])
            axes.set_xlabel("creative utility at patience 0.9")
            axes.set_ylabel("queries")
            whole_numbers(axes.yaxis)

        data = {"values": values}
        found = Found("create-distribution", "CREATE, spread over queries", _COLUMNS, rows, (), data, draw)
        return finish(found, options)

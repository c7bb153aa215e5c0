"""`creval analyse create-distances`: distances within sets before and after their transformation (Figure 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from creval.plugin import AnalysisOutput, DataError, FieldSpec
from creval_analyses.figures import COLOURS, whole_numbers
from creval_create.analysis.numbers import grouped
from creval_create.analysis.output import OUTPUT, PLOTS, Drawing, Found, finish
from creval_create.analysis.sets import JudgedSet, read_sets
from creval_create.utility.distance import transformed
from creval_create.utility.rules import Rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CreateDistances"]

_COLUMNS = ("model", "task", "pairs", "mean x", "q25 x", "median x", "q75 x", "x above 0.7", "mean g(x)")
_KNEE = 0.7
_BINS = 25


class CreateDistances:
    """Kind `analysis`: cosine distances x of the counted pairs of paths within each set, and g(x) of Eq. 9.

    With `--output` the three panels of Figure 6: the distances, the function g, and the transformed distances.
    """

    example = "runs/mine --output figures"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse create-distances`."""
        return (FieldSpec("variant", "string", "paper", "Rules: paper or released."), OUTPUT, PLOTS)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Pool the pairs of every model and task."""
        rules = Rules.of(options.get("variant") or "paper")
        rows: list[Sequence[Any]] = []
        raw: dict[str, np.ndarray] = {}
        for (model, task), sets in grouped(((one.model, one.task), one) for one in read_sets(runs)).items():
            x = np.concatenate([_pairs(one, rules) for one in sets])
            if len(x):
                raw[f"{model}, {task}"] = x
                quarters = (float(q) for q in np.quantile(x, (0.25, 0.5, 0.75)))
                after = float(transformed(x, rules.over_one).mean())
                rows.append((model, task, len(x), float(x.mean()), *quarters, float((x > _KNEE).mean()), after))
        if not rows:
            raise DataError("no set has two paths that count", fix="Name runs whose sets contain several paths.")
        notes = ["Pairs of different paths that count in one set; x: cosine distance, g(x): Eq. 9."]
        found = Found("create-distances", "CREATE, Figure 6", _COLUMNS, rows, notes, drawing=_panels(raw, rules))
        return finish(found, options)


def _pairs(one: JudgedSet, rules: Rules) -> np.ndarray:
    """Return the cosine distances of the counted pairs of paths."""
    rows = one.rows(one.counted(rules))
    return one.raw[np.ix_(rows, rows)][np.triu_indices(len(rows), 1)]


def _panels(raw: Mapping[str, np.ndarray], rules: Rules) -> Sequence[Drawing]:
    def before(axes: Axes) -> None:
        _histogram(axes, raw, "cosine distance x")

    def function(axes: Axes) -> None:
        x = np.linspace(0, 1, 201)
        axes.plot(x, transformed(x, rules.over_one), color=COLOURS[0])
        axes.set_xlabel("cosine distance x")
        axes.set_ylabel("g(x)")

    def after(axes: Axes) -> None:
        _histogram(axes, {name: transformed(x, rules.over_one) for name, x in raw.items()}, "transformed distance g(x)")

    return before, function, after


def _histogram(axes: Axes, values: Mapping[str, np.ndarray], what: str) -> None:
    edges = np.linspace(0, max(1.0, *(float(x.max()) for x in values.values())), _BINS + 1)
    for place, (name, x) in enumerate(values.items()):
        axes.hist(x, bins=list(edges), histtype="step", label=name, color=COLOURS[place % len(COLOURS)])
    axes.set_xlabel(what)
    axes.set_ylabel("pairs of paths")
    whole_numbers(axes.yaxis)

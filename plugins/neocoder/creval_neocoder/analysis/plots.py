"""Figures 2, 4, 5, 6 and 7 of the paper, over our runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from creval_analyses.figures import COLOURS, Figures, add_legend, error_lengths, whole_numbers
from creval_compare.paired import Difference
from creval_neocoder.analysis.human import HumanNumbers
from creval_neocoder.analysis.states import StateRow, cumulative

__all__ = ["draw_common", "draw_differences", "draw_human_difference", "draw_neogauge", "draw_stacked"]

FIGURES = Figures("creval-neocoder", "Install it: pip install 'creval-neocoder[plots]'")
_COMMON = 5


class Added(Protocol):
    """A metric of a strategy in a state, and the difference that the strategy makes."""

    @property
    def state(self) -> int: ...

    @property
    def metric(self) -> str: ...

    @property
    def difference(self) -> Difference: ...


Series = Mapping[str, Sequence[StateRow]]


def draw_neogauge(series: Series, base: Path) -> list[Path]:
    """Draw Figure 4: NeoGauge and its running sum by state."""
    with FIGURES.draw(1, 2, 8.0, 3.2) as (figure, axes):
        for colour, (model, rows) in zip(COLOURS, series.items(), strict=False):
            states = [row.state for row in rows]
            values = [_percent(row.values.get("neogauge")) for row in rows]
            axes[0].plot(states, values, "o-", color=colour, label=model)
            axes[1].plot(states, [_percent(value) for value in cumulative(rows)], "o-", color=colour)
        for axis, label in zip(axes, ("NeoGauge, %", "cumulative NeoGauge, %"), strict=True):
            axis.set_xlabel("state t")
            whole_numbers(axis.xaxis)
            axis.set_ylabel(label)
        add_legend(figure, axes)
        return FIGURES.save(figure, base)


def draw_stacked(series: Series, base: Path) -> list[Path]:
    """Draw Figure 7: convergent and divergent creativity by state, stacked, a panel per model."""
    with FIGURES.draw(1, len(series), 3.2 * len(series), 3.0) as (figure, axes):
        for axis, (model, rows) in zip(axes, series.items(), strict=True):
            states = [row.state for row in rows]
            lower = [_percent(row.values.get("convergent")) for row in rows]
            upper = [_percent(row.values.get("divergent")) for row in rows]
            axis.bar(states, lower, color=COLOURS[0], label="convergent")
            axis.bar(states, upper, bottom=lower, color=COLOURS[1], label="divergent")
            axis.set_title(model)
            axis.set_xlabel("state t")
            whole_numbers(axis.xaxis)
        _one_scale(axes)
        axes[0].set_ylabel("%")
        add_legend(figure, axes)
        return FIGURES.save(figure, base)


def draw_differences(
    strategies: Mapping[str, Sequence[Added]], printed: Mapping[tuple[str, str, int], float], base: Path
) -> list[Path]:
    """Draw Figure 6: the difference of each metric by state, a panel per strategy, with 95 % intervals.

    `printed` contains the paper's differences in percentage points by strategy, metric and state.
    """
    with FIGURES.draw(1, len(strategies), 3.4 * len(strategies), 3.0) as (figure, axes):
        for axis, (strategy, found) in zip(axes, strategies.items(), strict=True):
            for number, name in enumerate(dict.fromkeys(each.metric for each in found)):
                of_metric = [each for each in found if each.metric == name]
                places = [each.state + 0.25 * (number - 1) for each in of_metric]
                values = [_percent(each.difference.value) for each in of_metric]
                reach = _reach([each.difference for each in of_metric])
                axis.bar(places, values, 0.25, yerr=reach, capsize=2, color=COLOURS[number], label=name)
                known = [(place, (strategy, name, each.state)) for place, each in zip(places, of_metric, strict=True)]
                theirs = [(place, printed[key]) for place, key in known if key in printed]
                if theirs:
                    axis.plot(*zip(*theirs, strict=True), "D", color="black", markersize=3, label="paper (Table 5)")
            axis.axhline(0, color="black", linewidth=0.8)
            axis.set_title(strategy)
            axis.set_xlabel("state t")
            whole_numbers(axis.xaxis)
        _one_scale(axes)
        axes[0].set_ylabel("percentage points")
        add_legend(figure, axes)
        return FIGURES.save(figure, base)


def _one_scale(axes: Sequence[Any]) -> None:
    """Give all panels of a figure the same y axis, so that they can be compared."""
    ends = [axis.get_ylim() for axis in axes]
    for axis in axes:
        axis.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))


def _reach(found: Sequence[Difference]) -> list[list[float]]:
    """Return the lengths of each interval below and above its difference, in percentage points; nan without one."""
    lengths = error_lengths(*([getattr(each, name) for each in found] for name in ("value", "low", "high")))
    return [[100 * length for length in side] for side in lengths]


def draw_human_difference(series: Series, human: HumanNumbers, base: Path) -> list[Path]:
    """Draw Figure 5: the excess of humans over a model by state. Human divergent creativity is that of state 0."""
    with FIGURES.draw(1, len(series), 3.2 * len(series), 3.0) as (figure, axes):
        for axis, (model, rows) in zip(axes, series.items(), strict=True):
            for shift, name, hatch, colour in (
                (-0.2, "convergent", "////", COLOURS[0]),
                (0.2, "divergent", "\\\\\\\\", COLOURS[1]),
            ):
                known = [row for row in rows if row.values.get(name) is not None]
                humans = [human.convergent[row.state] if name == "convergent" else human.divergent for row in known]
                gaps = [100 * (mine - float(row.values[name] or 0)) for row, mine in zip(known, humans, strict=True)]
                axis.bar([row.state + shift for row in known], gaps, 0.4, label=name, hatch=hatch, color=colour)
            axis.axhline(0, color="black", linewidth=0.8)
            axis.set_title(model)
            axis.set_xlabel("state t")
            whole_numbers(axis.xaxis)
        _one_scale(axes)
        axes[0].set_ylabel("human minus model, %")
        add_legend(figure, axes)
        return FIGURES.save(figure, base)


def draw_common(found: Mapping[int, Counter[str]], human: Counter[str], base: Path) -> list[Path]:
    """Draw Figure 2: the five most common techniques by state as shares of all mentions, and of human solutions."""
    columns = {**{f"t = {state}": counts for state, counts in sorted(found.items())}, "human": human}
    names = list(dict.fromkeys(name for counts in columns.values() for name, _ in counts.most_common(_COMMON)))
    with FIGURES.draw(1, 1, 1.5 + 0.9 * len(columns), 3.6) as (figure, axes):
        bottoms = [0.0] * len(columns)
        for index, name in enumerate(names):
            shares = [
                100 * counts[name] / counts.total() if name in dict(counts.most_common(_COMMON)) else 0.0
                for counts in columns.values()
            ]
            colour = COLOURS[index % len(COLOURS)]
            axes[0].bar(list(columns), shares, bottom=bottoms, label=name, color=colour)
            bottoms = [below + share for below, share in zip(bottoms, shares, strict=True)]
        axes[0].set_ylabel("share of mentions, %")
        add_legend(figure, axes, "right")
        return FIGURES.save(figure, base)


def _percent(value: float | None) -> float:
    return float("nan") if value is None else 100 * value

"""Values over a setting that varies: a condition of the task, or another setting in each run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from creval.plugin import UnknownNameError, UsageError, open_run
from creval.plugin.plots import MetricChoice, RunResult, chosen
from creval_analyses.figures import add_legend, error_lengths, whole_numbers
from creval_compare.model_table import Column
from creval_plot.board import Source, left_out, load_results, no_metric, short_names
from creval_plot.figure_format import colour_of, inches, marker_of
from creval_plot.panels import columns_for, folded_name, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Point", "curve", "points_of"]

_ARROWS = {True: " ↑", False: " ↓", None: ""}


class Point(NamedTuple):
    """A metric of a model under settings."""

    model: str
    settings: Mapping[str, Any]
    column: Column
    metric: Mapping[str, Any]


def curve(
    runs: Sequence[Source],
    over: str | None = None,
    tasks: Sequence[str] = (),
    metrics: Sequence[str] = (),
    width: str | float = "column",
    style: str | Path | None = None,
) -> Figure:
    """Return a figure with a panel per metric: a line per model over the setting `over`, with intervals.

    `over` is optional if only one setting varies. If others vary too, each of their values has a separate
    line. Lines are slightly offset, so that intervals do not hide each other.

    Raises RunError, UnknownNameError, UsageError.
    """
    points = list(points_of(runs, tasks, metrics))
    over = _over(over, points)
    lines: defaultdict[Column, defaultdict[str, list[Point]]] = defaultdict(lambda: defaultdict(list))
    models = dict(zip(names := list(dict.fromkeys(point.model for point in points)), short_names(names), strict=True))
    others = [name for name in _varied(points) if name != over]
    for point in points:
        if over in point.settings:
            said = [f"{name}={point.settings[name]}" for name in others if name in point.settings]
            lines[point.column][", ".join([models[point.model], *said])].append(point)
    with_setting = {point.model for point in points if over in point.settings}
    left_out([models[name] for name in names if name not in with_setting], f"they have no {over}")
    total = inches(width)
    room = total / columns_for(total, len(lines)) - 0.4
    labels = list(dict.fromkeys(label for found in lines.values() for label in found))
    with panels(len(lines), width, 1.75, style) as (figure, axes):
        for axis, (column, found) in zip(axes, lines.items(), strict=True):
            _panel(axis, found, over, labels)
            axis.set_xlabel(over)
            axis.set_ylabel(folded_name(_head(column, next(iter(found.values()))[0]), min(room, 1.2)))
        add_legend(figure, axes)
        return figure


def points_of(runs: Sequence[Source], tasks: Sequence[str], metrics: Sequence[str]) -> Iterator[Point]:
    """Yield the metrics under each condition; for a task with a single condition those over all."""
    results, _ = chosen(load_results(runs), MetricChoice(tasks, metrics))
    for result in results:
        settings = _settings(result)
        for task in result.results["tasks"]:
            conditions = settings[task["task"]]
            for metric in task["metrics"]:
                if metric["value"] is None or (metric["condition"] is None) != (len(conditions) == 1):
                    continue
                own = conditions[metric["condition"] or next(iter(conditions))]
                column = Column(task["task"], metric["name"], None)
                yield Point(result.results["model"], own | task.get("generation_overrides", {}), column, metric)


def _settings(result: RunResult) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the settings of each condition of each task, from the manifest."""
    return {
        entry["task"]: {one["name"]: dict(one["settings"]) for one in entry["conditions"]}
        for entry in open_run(result.folder).manifest["tasks"]
    }


def _varied(points: Sequence[Point]) -> list[str]:
    """Return the settings that have more than one value."""
    values: defaultdict[str, set[str]] = defaultdict(set)
    for point in points:
        for name, value in point.settings.items():
            values[name].add(repr(value))
    return [name for name, found in values.items() if len(found) > 1]


def _over(asked: str | None, points: Sequence[Point]) -> str:
    known = list(dict.fromkeys(name for point in points for name in point.settings))
    if asked is not None:
        if asked not in known:
            raise UnknownNameError("setting", asked, known, where="over")
        return asked
    varied = _varied(points)
    if not varied:
        raise no_metric("curve", "Name runs with --condition temperature=0.2,0.7, or runs that differ in --generation.")
    if len(varied) > 1:
        raise UsageError(f"several settings vary: {', '.join(varied)}", where="curve", fix="Name one with --over.")
    return varied[0]


def _panel(axis: Any, found: Mapping[str, Sequence[Point]], over: str, labels: Sequence[str]) -> None:
    values = list(dict.fromkeys(point.settings[over] for some in found.values() for point in some))
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    places = {repr(value): value if numeric else place for place, value in enumerate(values)}
    apart = min((b - a for a, b in pairwise(sorted(places.values()))), default=1) * 0.25 / len(labels)
    for label, some in found.items():
        number = labels.index(label)
        ordered = sorted(some, key=lambda point: float(point.settings[over])) if numeric else some
        shift = min(apart, 0.012 * _span(places.values())) * (number - (len(labels) - 1) / 2)
        metrics = [point.metric for point in ordered]
        heights = [metric["value"] for metric in metrics]
        axis.errorbar(
            [places[repr(point.settings[over])] + shift for point in ordered],
            heights,
            yerr=error_lengths(heights, [one["ci_low"] for one in metrics], [one["ci_high"] for one in metrics]),
            marker=marker_of(number),
            color=colour_of(number),
            linewidth=1,
            elinewidth=0.7,
            markersize=3.5,
            capsize=2,
            label=label,
        )
    if not numeric:
        axis.set_xticks(range(len(values)), list(map(str, values)))
        axis.margins(x=0.1)
    elif all(float(value).is_integer() for value in values):
        whole_numbers(axis.xaxis)


def _span(places: Iterable[float]) -> float:
    found = list(places)
    return max(found) - min(found)


def _head(column: Column, point: Point) -> str:
    plain = column.metric.partition("[")[0]
    named = column.metric if plain == column.task else f"{column.task} {column.metric}"
    return named + _ARROWS[point.metric.get("higher_is_better")]

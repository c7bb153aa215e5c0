"""Construct scores over time, one panel per construct (Figure 1)."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from creval_validity.analyses.trend import DAYS_PER_YEAR, ConstructTrend, TrendResult
from creval_validity.output.plot_style import FIGURES, MARKERS, colour_of

__all__ = ["plot_trends"]


def plot_trends(result: TrendResult, base: Path) -> list[Path]:
    """Draw every model at its release date, coloured by provider, with the regression line dashed in grey."""
    providers = sorted({point.provider or "unknown" for trend in result.trends for point in trend.points})
    with FIGURES.draw(1, len(result.trends), 4.0 * len(result.trends) + 1.4, 3.6) as (figure, axes):
        for axis, trend in zip(axes, result.trends, strict=True):
            _panel(axis, trend, providers)
        _legend(figure, providers)
        return FIGURES.save(figure, base)


def _panel(axis: Any, trend: ConstructTrend, providers: list[str]) -> None:
    for point in trend.points:
        index = providers.index(point.provider or "unknown")
        axis.scatter(
            dt.datetime.combine(point.released, dt.time()),
            point.score,
            s=26,
            marker=MARKERS[index % len(MARKERS)],
            color=colour_of(index),
            linewidths=0.0,
            zorder=3,
        )
    ends = [trend.points[0].released, trend.points[-1].released]
    heights = [trend.line.at((end - trend.origin).days / DAYS_PER_YEAR) for end in ends]
    axis.plot(
        [dt.datetime.combine(end, dt.time()) for end in ends],
        heights,
        linestyle="--",
        color="#777777",
        linewidth=1.2,
        zorder=2,
    )
    line = trend.line
    axis.set_title(
        f"{trend.construct}\n{line.slope:+.2f} z/year [{line.low:+.2f}, {line.high:+.2f}], n={line.n}", fontsize=9
    )
    axis.set_ylabel("mean z")


def _legend(figure: Any, providers: list[str]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker=MARKERS[i % len(MARKERS)], color=colour_of(i), label=name)
        for i, name in enumerate(providers)
    ]
    figure.legend(handles=handles, loc="outside right center", fontsize=8)

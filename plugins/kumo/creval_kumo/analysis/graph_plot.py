"""Draws a domain graph: nodes are truths, colours (and shapes) their communities (Fig. 6d)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from creval_analyses.figures import COLOURS
from creval_kumo.analysis.graph import DomainGraph
from creval_kumo.analysis.graph_layout import layout
from creval_kumo.analysis.output import FIGURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Picture", "plot_graph", "plot_overview"]

_MARKERS = ("o", "s", "^", "D")


@dataclass(frozen=True, slots=True)
class Picture:
    """What one picture shows."""

    title: str
    graph: DomainGraph
    parts: Sequence[Sequence[str]]
    modularity: float | None


def plot_graph(picture: Picture, base: Path, seed: int) -> list[Path]:
    """Write one graph with the names of its truths as PNG and SVG; return the paths."""
    with FIGURES.draw(1, 1, 10.5, 8.5) as (drawn, axes):
        _draw(axes[0], picture, seed, names=True)
        return FIGURES.save(drawn, base)


def plot_overview(pictures: Sequence[Picture], base: Path, seed: int) -> list[Path]:
    """Write all graphs side by side, without names, as in the paper."""
    columns = min(5, len(pictures))
    rows = -(-len(pictures) // columns)
    with FIGURES.draw(rows, columns, 2.9 * columns, 3.0 * rows) as (drawn, axes):
        for axis, picture in zip(axes, pictures, strict=False):
            _draw(axis, picture, seed, names=False)
        for axis in axes[len(pictures) :]:
            axis.set_axis_off()
        return FIGURES.save(drawn, base)


def _draw(axis: Axes, picture: Picture, seed: int, names: bool) -> None:
    from matplotlib.collections import LineCollection

    graph = picture.graph
    places = layout(graph, seed)
    faint = min(0.7, 8.0 / max(1, len(graph.edges)) ** 0.5)
    lines = [(places[a], places[b]) for a, b in sorted(graph.edges)]
    axis.add_collection(LineCollection(lines, colors="#7d8894", linewidths=0.6, alpha=faint, zorder=1))
    for number, part in enumerate(picture.parts):
        axis.scatter(
            [places[name][0] for name in part],
            [places[name][1] for name in part],
            s=50 if names else 22,
            color=COLOURS[number % len(COLOURS)],
            marker=_MARKERS[number // len(COLOURS) % len(_MARKERS)],
            edgecolors="#ffffff",
            linewidths=0.6,
            zorder=2,
        )
    if names:
        for name, place in places.items():
            axis.annotate(name, place, xytext=(0, 5), textcoords="offset points", fontsize=5.5, ha="center", zorder=3)
    said = "" if picture.modularity is None else f", Q = {picture.modularity:.3f}"
    axis.set_title(f"{picture.title}\n{len(graph.truths)} truths, {len(picture.parts)} communities{said}", fontsize=9)
    axis.set_aspect("equal", adjustable="datalim")
    axis.set_axis_off()

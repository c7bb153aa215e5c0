"""What all figures share: a legend next to the data, whole numbers on an axis, lengths of intervals, colours."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.figure_watch import Drawn, faults, what_is_missing

pytest.importorskip("matplotlib")

from creval_analyses.figures import COLOURS, Figures, add_legend, error_lengths, whole_numbers

ROOT = Path(__file__).resolve().parents[3]
FIGURES = Figures("creval-rhyme", "Install it: pip install matplotlib")


@pytest.mark.parametrize("place", ["upper", "lower", "right"])
def test_a_legend_is_next_to_the_data_and_names_each_series_once(place: str) -> None:
    with FIGURES.draw(1, 2, 7.0, 2.0) as (figure, axes):
        for axis in axes:
            for number in range(5):
                axis.plot([0, 1], [0, number], label=f"provider/a-model-with-a-long-name-{number}")
        add_legend(figure, axes, place)
        figure.canvas.draw()

        (legend,) = figure.legends
        box = legend.get_window_extent()
        assert len(legend.get_texts()) == 5
        assert not any(box.overlaps(axis.get_window_extent()) for axis in axes)
        assert box.x0 >= 0 and box.x1 <= figure.bbox.width


def test_without_named_series_there_is_no_legend() -> None:
    with FIGURES.draw(1, 1, 3.0, 2.0) as (figure, axes):
        axes[0].plot([0, 1], [0, 1])
        add_legend(figure, axes)

        assert figure.legends == []


def test_ticks_are_whole_numbers() -> None:
    with FIGURES.draw(1, 1, 3.0, 2.0) as (_, (axis,)):
        axis.plot([0, 1, 2], [0, 1, 1])
        whole_numbers(axis.xaxis)
        whole_numbers(axis.yaxis, 1)

        assert all(float(tick).is_integer() for tick in (*axis.get_xticks(), *axis.get_yticks()))


def test_an_axis_of_zeros_begins_at_zero() -> None:
    with FIGURES.draw(1, 3, 6.0, 2.0) as (_, (zeros, some, named)):
        zeros.plot([1, 2], [0, 0])
        some.plot([1, 2], [0, 3])
        named.bar(["one"], [1])

    assert zeros.get_ylim() == (0, 1) and zeros.get_xlim()[0] < 1
    assert some.get_ylim()[1] > 3 and named.get_xlim()[0] < 0


def test_a_missing_interval_has_no_length() -> None:
    below, above = error_lengths([0.5, 0.5, None], [0.25, None, None], [1.0, 0.75, None])

    assert below[0] == 0.25 and math.isnan(below[1]) and math.isnan(below[2])
    assert above[:2] == [0.5, 0.25] and math.isnan(above[2])


def test_a_pdf_has_no_date_and_no_type_3_fonts(tmp_path: Path) -> None:
    with FIGURES.draw(1, 1, 3.0, 2.0) as (figure, _):
        (path,) = FIGURES.save(figure, tmp_path / "one", ["pdf"])

    assert b"CreationDate" not in path.read_bytes() and b"/Type3" not in path.read_bytes()


# --- rules for the figures of every analysis: conftest.py holds all that tests draw to them ---------------------


def _legend_on_data(axes: Any) -> None:
    axes.plot([0, 1], [0, 0.5], label="a")
    axes.legend()


def _broken_counts(axes: Any) -> None:
    axes.plot([1, 2], [0.1, 0.2])
    axes.set_xticks([1, 1.5, 2])


def _counts_in_bars(axes: Any) -> None:
    axes.bar(["a", "b"], [1, 2])
    axes.set_yticks([0, 0.5, 1, 2])


def _shares(axes: Any) -> None:
    axes.plot([0, 1], [0, 1])


@pytest.mark.parametrize(
    ("draw", "said"),
    [(_legend_on_data, "legend"), (_broken_counts, "whole"), (_counts_in_bars, "whole"), (_shares, "")],
)
def test_a_figure_with_a_fault_is_found(draw: Callable[[Any], None], said: str) -> None:
    with FIGURES.draw(1, 1, 3.0, 2.0) as (figure, (axes,)):
        draw(axes)
        figure.draw_without_rendering()

        assert [said in fault for fault in faults(figure)] == [True] * bool(said)


@pytest.mark.parametrize(
    ("columns", "row", "texts", "missing"),
    [
        (("value", "low", "high"), (1, 0, 2), (), True),
        (("value", "low", "high"), (1, None, None), (), False),
        (("value", "low", "high"), (1, 0, 2), ("r = 1 [0.00, 2.00]",), False),
        (("value", "from", "to"), (1.0, 0.0, 2.0), (), True),
        (("value", "from", "to"), (1.0, "2024", "2025"), (), False),
        (("value", "classes ci_low"), (1, 0), (), True),
        (("value", "authors' value"), (1, 2), (), True),
        (("value", "authors' value"), (1, 2), ("x/one (authors)",), False),
        (("model", "value"), ("GPT-4 (Table 3)", 2), ("value",), True),
    ],
)
def test_what_the_table_has_and_the_figure_lacks_is_found(
    columns: tuple[str, ...], row: tuple[Any, ...], texts: tuple[str, ...], missing: bool
) -> None:
    assert bool(what_is_missing(Drawn(texts, False), columns, [row])) is missing


def test_an_interval_that_is_drawn_is_not_missing() -> None:
    with FIGURES.draw(1, 2, 3.0, 2.0) as (figure, axes):
        axes[0].errorbar([0], [1], yerr=[[math.nan], [math.nan]])
        without = Drawn.of(figure)
        axes[1].bar([0], [1], yerr=[[0.5], [0.5]])
        with_bars = Drawn.of(figure)

    assert [bool(what_is_missing(one, ("low",), [(0,)])) for one in (without, with_bars)] == [True, False]


DRAWN = {
    "association/dat_distributions": "test_dat_distributions",
    "create/analysis/commands/breakdowns": "test_analyses",
    "create/analysis/commands/curves": "test_analyses",
    "create/analysis/commands/distances": "test_analyses",
    "create/analysis/output": "test_analyses",
    "create/analysis/commands/resample": "test_analyses",
    "diversity/analyses/across": "test_runs",
    "diversity/analyses/collapse": "test_runs",
    "kumo/analysis/commands/correlation": "test_analysis_correlation",
    "kumo/analysis/commands/domains": "test_analysis_runs",
    "kumo/analysis/commands/errors": "test_analysis_runs",
    "kumo/analysis/commands/optimal": "test_analysis_optimal",
    "kumo/analysis/commands/structure": "test_analysis_runs",
    "kumo/analysis/graph_plot": "test_analysis_graph",
    "neocoder/analysis/plots": "test_neocoder_analysis",
    "openended/analyses/averages": "test_analyses",
    "openended/analyses/temperature": "test_analyses",
    "openended/validation/agreement": "test_jury_agreement",
    "openended/validation/performance": "test_jury_agreement",
    "openended/validation/tradeoff": "test_jury_agreement",
    "plot/distribution_plot": "test_command",
    "plot/panels": "test_command",
    "validity/output/plot_ablation": "test_plots",
    "validity/output/plot_frontier": "test_plots",
    "validity/output/plot_matrix": "test_plots",
    "validity/output/plot_trend": "test_trend",
}
"""Modules that draw, and the test file that lets each draw under those rules."""


def test_every_module_that_draws_is_drawn_by_a_test() -> None:
    draws = re.compile(r"FIGURES\.draw\(|\bdrawing=|^(?:from|import) matplotlib.*pyplot", re.MULTILINE)
    modules = {
        str(file.relative_to(ROOT / "plugins").with_suffix("")).replace(
            f"creval_{file.parts[len(ROOT.parts) + 1]}/", ""
        )
        for file in ROOT.glob("plugins/*/creval_*/**/*.py")
        if draws.search(file.read_text(encoding="utf-8"))
    }

    assert modules == set(DRAWN)
    for module, test in DRAWN.items():
        text = (ROOT / "plugins" / module.partition("/")[0] / "tests" / f"{test}.py").read_text(encoding="utf-8")
        assert "creval_" in text and re.search(r"\.png|output=|drawn|plot", text), (module, test)


# --- colours ----------------------------------------------------------------------------------------------------

_KINDS = {  # Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
}


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _lab(colour: str, kind: str) -> tuple[float, float, float]:
    """Return a colour as somebody with a deficiency sees it, in CIELAB (D65)."""
    srgb = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in srgb]
    seen = [min(1.0, max(0.0, _dot(row, linear))) for row in _KINDS[kind]]
    xyz = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    x, y, z = (
        (one ** (1 / 3) if one > 0.008856 else 7.787 * one + 16 / 116)
        for one in (_dot(row, seen) / end for row, end in zip(xyz, white, strict=True))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("kind", sorted(_KINDS))
def test_colours_are_distinguished_by_the_colour_blind(kind: str) -> None:
    labs = [_lab(colour, kind) for colour in COLOURS]

    assert min(math.dist(one, other) for one, other in itertools.combinations(labs, 2)) > 15

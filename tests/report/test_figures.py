"""What all figures share: a legend next to the data, whole numbers on an axis, lengths of intervals."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from creval.plugin.figures import Figures, add_legend, error_lengths, whole_numbers

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


def test_a_missing_interval_has_no_length() -> None:
    below, above = error_lengths([0.5, 0.5, None], [0.25, None, None], [1.0, 0.75, None])

    assert below[0] == 0.25 and math.isnan(below[1]) and math.isnan(below[2])
    assert above[:2] == [0.5, 0.25] and math.isnan(above[2])


def test_a_pdf_has_no_date_and_no_type_3_fonts(tmp_path: Path) -> None:
    with FIGURES.draw(1, 1, 3.0, 2.0) as (figure, _):
        (path,) = FIGURES.save(figure, tmp_path / "one", ["pdf"])

    assert b"CreationDate" not in path.read_bytes() and b"/Type3" not in path.read_bytes()

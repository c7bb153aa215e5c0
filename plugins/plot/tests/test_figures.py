"""The figures as objects: what they say, where intervals end, that nothing lies on anything else."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.plot_runs import MODELS, change_by, copy_run

import creval
import creval_plot
from creval import CrevalError
from creval_plot.board import short_names
from creval_plot.distribution_plot import bin_edges
from creval_plot.figure_format import WIDTHS
from creval_plot.pareto_plot import front, price

MAKE: dict[str, Callable[..., Any]] = {
    "forest": creval_plot.forest,
    "heatmap": creval_plot.heatmap,
    "pareto": creval_plot.pareto,
    "curve": lambda runs, **more: creval_plot.curve(runs, "temperature", **more),
    "distribution": lambda runs, **more: creval_plot.distribution(runs, "tests", "kumo_easy", **more),
    "judges": lambda runs, **more: creval_plot.judges(runs, ["success_rate", "tests"], "kumo_easy", **more),
}


@pytest.fixture
def named(runs: Path, made: Path, tmp_path: Path) -> Callable[[str], list[Path]]:
    def give(kind: str) -> list[Path]:
        if kind != "curve":
            return sorted(runs.glob("*" if kind != "judges" else "model-[01]"))
        for i, model in enumerate(MODELS):
            copy_run(made / "warm", tmp_path / "warm" / str(i), model, change_by(i))
        return sorted((tmp_path / "warm").glob("*"))

    return give


def bar_ends(axis: Any) -> list[float]:
    """Return the ends of all error bars of an axes along their own direction."""
    found = []
    for container in axis.containers:
        for lines in container.lines[2]:
            for (x0, y0), (x1, y1) in filter(len, lines.get_segments()):  # without an interval it is empty
                found += [x0, x1] if x0 != x1 else [y0, y1]
    return found


def boxes(figure: Any) -> tuple[list[Any], list[Any]]:
    """Return the boxes of legends, and of the data areas."""
    figure.canvas.draw()
    return [one.get_window_extent() for one in figure.legends], [axis.get_window_extent() for axis in figure.axes]


@pytest.mark.parametrize("width", ["column", "text"])
@pytest.mark.parametrize("kind", sorted(MAKE))
def test_no_text_is_cut_and_no_legend_lies_on_data(kind: str, width: str, named: Callable[[str], list[Path]]) -> None:
    figure = MAKE[kind](named(kind), width=width)

    legends, areas = boxes(figure)
    assert figure.get_figwidth() == WIDTHS[width]
    assert not any(legend.overlaps(area) for legend in legends for area in areas)
    page = figure.bbox.padded(1)
    for axis in figure.axes:
        box = axis.get_tightbbox()
        assert box is None or (page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1)
        labels = [one.get_window_extent() for one in axis.get_yticklabels() if one.get_text() and one.get_visible()]
        assert not any(one.overlaps(other) for one, other in itertools.combinations(labels, 2))
    assert all(page.x0 <= legend.x0 and legend.x1 <= page.x1 for legend in legends)


def test_a_forest_has_the_intervals_of_the_table_and_lines_at_floor_and_ceiling(runs: Path) -> None:
    figure = creval_plot.forest(sorted(runs.glob("*")), tasks=["kumo_easy"])

    (axis,) = figure.axes
    metrics = [creval.open_run(runs / f"model-{i}").result("kumo_easy")["metrics"][0] for i in range(3)]
    assert bar_ends(axis) == pytest.approx([one[end] for one in metrics for end in ("ci_low", "ci_high")])
    assert [one.get_text().replace("\n", "") for one in axis.get_yticklabels()] == [
        "llama-3.3-70b-instruct:free", "gemini-2.5-flash-lite-preview-09-2025", "gpt-5-mini",
    ]  # fmt: skip
    frame = {line.get_label(): line.get_xdata()[0] for line in axis.lines if line.get_label() in ("floor", "ceiling")}
    ends = {name: creval.open_run(runs / name).result("kumo_easy")["metrics"][0]["value"] for name in frame}
    assert frame == ends and len(frame) == 2
    assert axis.get_xlabel() == "kumo_easy success_rate\u00a0↑"


def test_a_value_without_an_interval_has_no_bar(runs: Path, made: Path) -> None:
    def change(task: dict[str, Any]) -> None:
        for metric in task["metrics"]:
            metric |= {"value": 0.5, "ci_low": None, "ci_high": None}

    copy_run(made / "floor", runs / "bare", "openrouter/x/bare", change)

    figure = creval_plot.forest([runs / "bare"], tasks=["rat"])

    (axis,) = figure.axes
    assert "95 % interval" not in [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert axis.containers[0].lines[0].get_xdata().tolist() == [0.5]
    assert bar_ends(axis) == []


def test_a_heat_map_says_each_value_the_best_model_on_top(runs: Path) -> None:
    axis, bar = creval_plot.heatmap(sorted(runs.glob("model-*"))).axes

    assert [text.get_text() for text in axis.texts] == ["0.650"] * 2 + ["0.450"] * 2 + ["0.250"] * 2
    assert axis.get_yticklabels()[0].get_text() == "gpt-5-mini"
    assert [text.get_text() for text in bar.get_yticklabels()] == ["floor", "ceiling"]


def test_without_floor_and_ceiling_colours_go_from_worst_to_best(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()

    _, bar = creval_plot.heatmap(sorted(runs.glob("model-*")), baselines=tmp_path / "none").axes

    assert [text.get_text() for text in bar.get_yticklabels()] == ["worst", "best"]


def test_a_curve_is_over_conditions_with_whole_temperatures(named: Callable[[str], list[Path]]) -> None:
    runs = named("curve")

    figure = creval_plot.curve(runs, tasks=["rat"])

    (axis,) = figure.axes
    assert axis.get_xlabel() == "temperature"
    assert axis.xaxis.get_major_locator()._integer
    assert [len(container.lines[0].get_xdata()) for container in axis.containers] == [3, 3, 3]
    metrics = [one for one in creval.open_run(runs[0]).result("rat")["metrics"] if one["name"] == "rat"]
    ends = [one[end] for one in metrics if one["condition"] for end in ("ci_low", "ci_high")]
    assert bar_ends(axis)[:6] == pytest.approx(ends)


def test_a_figure_names_another_resource_than_the_task_s_own(
    named: Callable[[str], list[Path]], tmp_path: Path
) -> None:
    def change(task: dict[str, Any]) -> None:
        for metric in task["metrics"]:
            metric["name"] += "[embedded/minilm]"

    source = named("curve")[0]
    copy_run(source, tmp_path / "other", "x/one", change)

    (axis,) = creval_plot.curve([tmp_path / "other"], "temperature", tasks=["rat"], metrics=["rat"]).axes
    assert "".join(axis.get_ylabel().split()) == "rat[embedded/minilm]↑"
    (axis,) = creval_plot.distribution([tmp_path / "other"], "rat", "rat").axes
    assert "".join(axis.get_xlabel().split()) == "rat[embedded/minilm]"


def test_a_curve_is_over_settings_in_which_runs_differ(made: Path, tmp_path: Path) -> None:
    for value in (0.5, 1.5):

        def change(task: dict[str, Any], value: float = value) -> None:
            task["generation_overrides"] = {"top_p": value}

        copy_run(made / "floor", tmp_path / str(value), "x/one", change)

    (axis,) = creval_plot.curve([tmp_path / "0.5", tmp_path / "1.5"], tasks=["rat"]).axes

    assert axis.get_xlabel() == "top_p"
    assert axis.containers[0].lines[0].get_xdata() == pytest.approx([0.5, 1.5])


def test_pareto_has_the_price_of_the_model_alone(runs: Path) -> None:
    (axis,) = creval_plot.pareto(sorted(runs.glob("model-*")), tasks=["rat"]).axes

    assert axis.get_xscale() == "log"
    xs = [container.lines[0].get_xdata()[0] for container in axis.containers]
    assert xs == pytest.approx([1000 * 0.02 * 20**i / 6 for i in range(3)])
    usage = {"cost": 3.0, "unpriced_calls": 0, "input_tokens": 50, "output_tokens": 10}
    judge = {"cost": 1.0, "unpriced_calls": 0, "input_tokens": 30, "output_tokens": 10}
    task = {"usage": usage, "usage_by_role": {"judge": judge}, "counts": {"scored": 4, "skipped": 0}}
    assert price(task, "cost") == 500.0
    assert price(task, "tokens") == 5.0
    assert price({**task, "usage": {**usage, "unpriced_calls": 1}}, "cost") is None


def test_a_long_legend_leaves_the_data_their_room(made: Path, tmp_path: Path) -> None:
    for i in range(20):
        copy_run(made / "floor", tmp_path / "many" / str(i), f"x/a-model-with-a-long-name-{i}", change_by(0))

    figure = creval_plot.pareto(sorted((tmp_path / "many").iterdir()), tasks=["rat"])

    (legend,), (area,) = boxes(figure)
    assert not legend.overlaps(area)
    assert area.height > figure.dpi  # an inch


def test_the_front_has_what_nothing_beats() -> None:
    points = [(1.0, 0.2), (2.0, 0.1), (3.0, 0.5), (3.0, 0.4)]

    assert front(points, better=True) == [(1.0, 0.2), (3.0, 0.5)]
    assert front(points, better=False) == [(1.0, 0.2), (2.0, 0.1)]


def test_models_without_a_cost_cannot_be_plotted_against_it(made: Path) -> None:
    with pytest.raises(CrevalError, match="plot tokens"):
        creval_plot.pareto([made / "floor"])


def test_a_distribution_counts_every_sample_on_whole_axes(made: Path) -> None:
    figure = creval_plot.distribution([made / "floor", made / "ceiling"], "tests", "kumo_easy")

    for axis in figure.axes:
        assert sum(bar.get_height() for bar in axis.patches if bar.get_label() != "95 % interval") == 6
        assert axis.xaxis.get_major_locator()._integer and axis.yaxis.get_major_locator()._integer
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()


def test_bins_are_whole_numbers_where_there_are_few() -> None:
    assert bin_edges([1, 2, 2, 3]) == [0.5, 1.5, 2.5, 3.5]
    assert bin_edges([0.5, 0.5]) == [0.0, 1.0]
    assert len(bin_edges([i / 7 for i in range(500)])) <= 41


def test_judges_agree_over_what_both_rated(made: Path, tmp_path: Path) -> None:
    keys = [record.key for record in creval.open_run(made / "floor").scores("kumo_easy")]
    (tmp_path / "labels.csv").write_text("doc,label\n" + "".join(f"{key.doc},{i % 2}\n" for i, key in enumerate(keys)))

    figure = creval_plot.judges(
        [made / "floor", made / "ceiling"], ["success_rate"], "kumo_easy", labels=tmp_path / "labels.csv"
    )

    axis = figure.axes[0]
    assert [text.get_text() for text in axis.get_xticklabels()] == ["people", "floor"]
    assert [text.get_text() for text in axis.get_yticklabels()] == ["floor", "ceiling"]
    assert [text.get_text().rpartition("\n")[2] for text in axis.texts if text.get_text()] == ["n=6"] * 3


def test_names_are_as_long_as_they_need_to_be() -> None:
    assert short_names(["a/x/one", "b/x/one", "a/two"]) == ["a/x/one", "b/x/one", "two"]
    assert short_names(["baseline/floor", "openai/gpt"]) == ["baseline/floor", "gpt"]


def test_a_style_file_is_honoured(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "own.mplstyle").write_text("font.size: 11\naxes.spines.top: True\n")

    plain = creval_plot.forest([runs / "model-0"], tasks=["rat"]).axes[0]
    styled = creval_plot.forest([runs / "model-0"], tasks=["rat"], style=tmp_path / "own.mplstyle").axes[0]

    assert (plain.xaxis.label.get_fontsize(), styled.xaxis.label.get_fontsize()) == (7, 11)
    assert (plain.spines["top"].get_visible(), styled.spines["top"].get_visible()) == (False, True)
    with pytest.raises(CrevalError, match="no such style"):
        creval_plot.forest([runs / "model-0"], style="nowhere.mplstyle")


@pytest.mark.parametrize(("form", "start"), [("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_files_are_written_alike_each_time(form: str, start: bytes, runs: Path, tmp_path: Path) -> None:
    written = []
    for name in ("one", "other"):
        figure = creval_plot.forest([runs / "model-0"], tasks=["rat"])
        written.append(creval_plot.save(figure, tmp_path / f"{name}.v1.{form}").read_bytes())

    assert written[0].startswith(start)
    assert written[0] == written[1]
    assert b"/Type3" not in written[0]
    with pytest.raises(CrevalError, match="jpg"):
        creval_plot.save(figure, tmp_path / "a.jpg")

"""`creval plot`: its files, its options by kind, its example."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from support.plot_runs import MODELS

import creval_plot
from creval.cli.main import invoke
from creval.errors import RunError
from creval_plot.board import short_names
from creval_plot.cli import plot


def test_the_example_of_the_help_runs(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split((plot.epilog or "").removeprefix("Example: creval "))
    at = words.index("runs/*")
    words[at : at + 1] = [f"runs/{folder.name}" for folder in sorted(runs.iterdir())]

    assert invoke(words) == 0

    assert capsys.readouterr().out == "forest.pdf\n"
    assert (tmp_path / "forest.pdf").read_bytes().startswith(b"%PDF")


def test_several_formats_are_written_at_once(runs: Path, tmp_path: Path) -> None:
    asked = ["plot", str(runs / "model-0"), "--kind", "heatmap", "--width", "7"]

    assert invoke([*asked, "-o", "figures/a.svg", "-o", "figures/a.png"]) == 0

    assert sorted(file.name for file in (tmp_path / "figures").iterdir()) == ["a.png", "a.svg"]
    assert (tmp_path / "figures" / "a.png").read_bytes()[16:20] == (2100).to_bytes(4, "big")  # 7 inches of 300 dots


@pytest.mark.parametrize(
    "words",
    [
        ["--kind", "distribution", "--task", "kumo_easy", "--score", "tests"],
        ["--kind", "judges", "--task", "kumo_easy", "--score", "tests", "--score", "success_rate"],
        ["--kind", "pareto", "--against", "tokens", "--metric", "tests"],
    ],
)
def test_each_kind_takes_its_options(words: list[str], runs: Path, tmp_path: Path) -> None:
    assert invoke(["plot", str(runs / "model-0"), *words]) == 0

    assert (tmp_path / f"{words[1]}.pdf").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--over", "temperature"], "--over is for --kind curve, not for forest"),
        (["--kind", "curve"], "--condition"),
        (["--width", "wide"], "column"),
        (["--output", "a.gif"], "pdf"),
        (["--kind", "distribution"], "there are several tasks: rat, kumo_easy"),
        (["--kind", "judges", "--score", "tests"], "there are several tasks: rat, kumo_easy"),
        (["--kind", "distribution", "--task", "rat_"], "Did you mean 'rat'?"),
        (["--kind", "judges", "--task", "rat"], "score"),
        (["--metric", "succes_rate"], "success_rate"),
        (["--style", "nowhere"], "no such style"),
    ],
)
def test_what_cannot_be_drawn_is_reported(
    words: list[str], said: str, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["plot", str(runs / "model-0"), *words]) == 2

    assert said in capsys.readouterr().err


def change(run: Path, task: str, **values: object) -> None:
    """Set values of the primary metric of a run's task."""
    results = json.loads((run / "results.json").read_text())
    for each in results["tasks"]:
        if each["task"] == task:
            next(metric for metric in each["metrics"] if metric["primary"]).update(values)
    (run / "results.json").write_text(json.dumps(results))


@pytest.mark.parametrize("kind", ["forest", "heatmap"])
def test_a_model_without_a_value_is_left_out_and_named(
    kind: str, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(runs / "model-0", "rat", value=None, ci_low=None, ci_high=None)

    assert invoke(["plot", *map(str, sorted(runs.glob("model-*"))), "--kind", kind, "--task", "rat"]) == 0

    said = capsys.readouterr()
    assert said.out == f"{kind}.pdf\n"
    assert said.err == f"left out because they have no value of these metrics: {MODELS[0]}\n"


def test_a_forest_names_the_models_that_a_panel_lacks(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(runs / "model-0", "rat", value=None, ci_low=None, ci_high=None)

    assert invoke(["plot", *map(str, sorted(runs.glob("model-*"))), "--kind", "forest"]) == 0

    assert "left out because they have no value of rat " in (said := capsys.readouterr().err)
    assert said.count("no value of") == 1


def test_a_panel_says_where_it_has_no_value(runs: Path) -> None:
    for name in ("model-0", "model-1"):
        change(runs / name, "rat", value=None, ci_low=None, ci_high=None)

    with pytest.warns(UserWarning, match="no value of rat"):
        bare, full = creval_plot.forest([runs / "model-0", runs / "model-1"], metrics=["success_rate", "rat"]).axes

    assert [len(axis.texts) for axis in (full, bare)] == [0, 2] and bare.texts[0].get_text() == "no value"
    assert not bare.get_xticks().size and full.get_xticks().size


def test_runs_without_any_value_are_not_drawn(runs: Path) -> None:
    change(runs / "model-0", "rat", value=None, ci_low=None, ci_high=None)
    for kind in ("forest", "heatmap"):
        with pytest.raises(RunError, match="nothing to plot"):
            getattr(creval_plot, kind)([runs / "model-0"], metrics=["rat"])


def test_a_dollar_in_a_name_is_no_formula(runs: Path) -> None:
    results = json.loads((file := runs / "model-0" / "results.json").read_text())
    file.write_text(json.dumps({**results, "model": r"m/a$\foo$b"}))
    figure = creval_plot.forest([runs / "model-0"])
    figure.draw_without_rendering()
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [r"a$\foo$b"]


def test_a_model_without_a_price_is_left_out_and_named(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = json.loads((runs / "model-1" / "results.json").read_text())
    for task in results["tasks"]:
        task["usage"]["unpriced_calls"] = 3
    (runs / "model-1" / "results.json").write_text(json.dumps(results))

    assert invoke(["plot", *map(str, sorted(runs.glob("model-*"))), "--kind", "pareto", "--task", "rat"]) == 0

    assert capsys.readouterr().err == f"left out because their cost is not known: {short_names(MODELS)[1]}\n"


@pytest.mark.parametrize(("ends", "noted"), [((0.9, 0.4), True), ((0.4, 0.9), False)])
def test_a_heat_map_says_where_the_ceiling_does_not_beat_the_floor(
    ends: tuple[float, float], noted: bool, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in zip(("floor", "ceiling"), ends, strict=True):
        change(runs / name, "rat", value=value)

    assert invoke(["plot", *map(str, sorted(runs.glob("model-*"))), "--kind", "heatmap", "--task", "rat"]) == 0

    assert ("the ceiling does not beat the floor: rat" in capsys.readouterr().err) is noted

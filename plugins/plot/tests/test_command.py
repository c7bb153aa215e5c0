"""`creval plot`: its files, its options by kind, its example."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from creval.cli.main import invoke
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
        (["--kind", "distribution"], "rat"),
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

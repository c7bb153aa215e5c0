"""Runs: floor and ceiling of tasks, levels as conditions, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import creval
from creval.cli.main import invoke
from creval.errors import CrevalError
from creval_reasoning_gym import library
from creval_reasoning_gym.protocol import at_level

TASKS = [f"reasoning_gym/{name}" for name in ("letter_counting", "rush_hour", "boxnet", "coin_flip_levels")]


def values(result: Any, name: str = "solved") -> dict[tuple[str, str | None], float]:
    return {
        (task["task"], metric["condition"]): metric["value"]
        for task in result.results["tasks"]
        for metric in task["metrics"]
        if metric["name"] == name
    }


def test_floor_and_ceiling(alone: Path) -> None:
    ceiling = creval.run(TASKS, "baseline/ceiling", creval.RunOptions(limit=3, seed=1, output=alone / "ceiling"))
    floor = creval.run(TASKS, "baseline/floor", creval.RunOptions(limit=3, seed=1, output=alone / "floor"))

    assert set(values(ceiling).values()) == {1.0}
    assert values(floor)["letter_counting", None] < 1
    assert values(floor)["rush_hour", None] == 0
    levels = [key[1] for key in values(ceiling) if key[0] == "coin_flip_levels" and key[1] is not None]
    assert len(levels) >= 2
    creval_plot = pytest.importorskip("creval_plot")
    words = ["--kind", "curve", "--task", "coin_flip_levels", "--metric", "solved"]
    assert invoke(["plot", str(ceiling.folder), str(floor.folder), *words, "--output", str(alone / "curve.pdf")]) == 0
    folders = [ceiling.folder, floor.folder]
    (axis,) = creval_plot.curve(folders, tasks=["coin_flip_levels"], metrics=["solved"]).axes
    assert axis.get_xlabel() == "level" and "".join(axis.get_ylabel().split()).startswith("coin_flip_levels")
    for bars, of_run in zip(axis.containers, (ceiling, floor), strict=True):
        assert [round(x) for x in bars.lines[0].get_xdata()] == [int(str(each).split("=")[1]) for each in levels]
        heights = [values(of_run)["coin_flip_levels", each] for each in levels]
        assert bars.lines[0].get_ydata().tolist() == heights and bars.has_yerr


def test_names_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["ls", "reasoning_gym/chain_sum*"]) == 0
    out = capsys.readouterr().out
    assert "chain_sum_levels" in out
    assert invoke(["ls"]) == 0
    assert capsys.readouterr().out.count("Reasoning Gym") == 1


def test_a_near_name_is_named() -> None:
    with pytest.raises(CrevalError, match="Did you mean 'reasoning_gym/chain_sum'"):
        creval.run(["reasoning_gym/chain_sums"], "baseline/floor")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("settings: {max_term: 3}", "Did you mean 'max_terms'"),
        ("settings: {min_terms: 9, max_terms: 2}", "refuses the settings of chain_sum"),
        ("library: 0.0.1", "is installed"),
    ],
)
def test_settings_that_it_does_not_take_are_refused(data: str, said: str, alone: Path) -> None:
    name, _, value = data.partition(": ")
    file = alone / "own.yaml"
    file.write_text(
        "schema: 1\ninclude: reasoning_gym/chain_sum\ntask: own\nversion: 1.0.0\ntitle: Own\n"
        f"dataset: {{{name}: {value}, size: 3}}\n"
    )
    with pytest.raises(CrevalError, match=said):
        creval.run([str(file)], "baseline/floor", creval.RunOptions(output=alone / "never"))


@pytest.mark.parametrize("kept", ["", "{", "[]", "{}", '{"chain_sum": 3}', '{"chain_sum": ["0"]}'])
def test_a_damaged_index_of_names_is_made_anew(kept: str, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_read_names", lambda: {"chain_sum": [0, 1]})
    file = alone / "cache" / "reasoning_gym" / f"names-{library.need_library()}.json"
    before = file.read_bytes() if file.is_file() else None
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(kept)
    try:
        assert library.names() == {"chain_sum": [0, 1]}
        assert json.loads(file.read_bytes()) == {"chain_sum": [0, 1]}
    finally:
        file.unlink() if before is None else file.write_bytes(before)


def test_a_level_without_items_is_named() -> None:
    doc = {"id": "chain_sum-1", "levels": {"0": {"question": "1 + 1"}}}
    assert at_level(doc, 0)["question"] == "1 + 1"
    with pytest.raises(CrevalError, match="there is no item at level 99"):
        at_level(doc, 99)

"""The results table: which metric is the primary one, and what is next to it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from creval.api import RunResult
from creval.report.baselines import Baselines, NumberBasis
from creval.report.result_tables import print_results, result_rows

HOSTILE = "drat[bold]\x1b[2J"


def _metric(name: str, primary: bool) -> dict[str, Any]:
    counts = {"scored": 4, "unparsed": 0, "truncated": 0, "refused": 0, "errored": 0, "skipped": 0}
    bounds = {"value": 1.8, "ci_low": 0.8, "ci_high": 2.8, "n": 4}
    return {"name": name, "condition": None, **bounds, "counts": counts, "primary": primary}


def _shown(terminal: bool, baselines: Baselines | None = None, first: str = "drat") -> str:
    asked = {"hash": "h", "dataset": "d", "docs_digest": "0", "repeats": 1}
    task = {"task": "drat", **asked, "metrics": [_metric(first, True), _metric("survivors", False)]}
    console = Console(file=io.StringIO(), force_terminal=terminal, width=200, color_system="standard", highlight=False)
    print_results([RunResult(Path("runs/mine"), {"model": "a/b", "tasks": [task]})], baselines, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_elsewhere_the_primary_metric_has_a_star_and_the_interval_one_precision() -> None:
    shown = _shown(False)
    assert "drat *" in shown
    assert "survivors *" not in shown
    assert "0.800 to 2.800" in shown
    assert "* primary metric\n" in shown
    assert "floor" not in shown


def test_on_a_terminal_it_is_bold(monkeypatch: Any) -> None:
    monkeypatch.setenv("TERM", "xterm")
    shown = _shown(True)
    assert "\x1b[1mdrat" in shown
    assert "drat *" not in shown
    assert "bold: primary metric" in shown


def test_a_bold_name_cannot_steer_the_terminal(monkeypatch: Any) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert "drat[bold]\\x1b[2J" in _shown(True, first=HOSTILE)


def test_floor_and_ceiling_come_with_a_legend() -> None:
    asked = NumberBasis("h", "d", "0", 1)
    found = {(asked, "survivors", None, "floor"): 0.25, (asked, "survivors", None, "ceiling"): 12.5}
    shown = _shown(False, Baselines(found))
    assert "0.250" in shown and "12.50" in shown
    assert "* primary metric; floor, ceiling: what baseline/floor and baseline/ceiling reached" in shown


def _noted(**of_metric: Any) -> str:
    metric = {**_metric("drat", True), **of_metric}
    task = {"task": "drat", "hash": "h", "dataset": "d", "docs_digest": "0", "repeats": 1, "metrics": [metric]}
    console = Console(file=io.StringIO(), width=200)
    print_results([RunResult(Path("runs/mine"), {"model": "a/b", "tasks": [task]})], None, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_why_there_is_no_interval_is_reported() -> None:
    shown = _noted(ci_low=None, ci_high=None, no_interval="nothing varies between the docs")
    assert "no interval, as nothing varies between the docs: drat of drat\n" in shown


def test_a_unit_other_than_the_doc_is_named() -> None:
    assert "interval over trials, not docs: drat of drat\n" in _noted(cluster="trial", no_interval=None)
    assert "trials" not in _noted(cluster="doc", no_interval=None)


@pytest.mark.parametrize("text", ["{", "\x80"])
def test_damaged_results_are_one_clear_error(tmp_path: Path, text: str) -> None:
    from creval.api import load_result
    from creval.errors import RunError

    (tmp_path / "results.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(RunError, match="cannot be read") as caught:
        load_result(tmp_path)
    assert "creval score" in str(caught.value)


@pytest.mark.parametrize(
    ("routes", "said"),
    [
        ({"refusal": 2, "lines": 1}, "1 scored, 3 unparsed (2 refusals)"),
        ({"refusal": 1}, "1 scored, 3 unparsed (1 refusal)"),
        ({"lines; refusal": 1, "lines": 3}, "1 scored, 3 unparsed (1 refusal)"),
        ({"lines": 1}, "1 scored, 3 unparsed"),
    ],
)
def test_unparsed_answers_that_were_refusals_are_reported(routes: dict[str, int], said: str) -> None:
    """Over all conditions: of one condition the routes are not counted apart."""
    metric = _metric("drat", True)
    metric["counts"] |= {"scored": 1, "unparsed": 3}
    asked = {"hash": "h", "dataset": "d", "docs_digest": "0", "repeats": 1}
    task = {"task": "drat", **asked, "routes": routes, "metrics": [metric, metric | {"condition": "temperature=1"}]}
    rows = result_rows(RunResult(Path("runs/mine"), {"model": "a/b", "tasks": [task]}), Baselines({}))
    assert [row[-1] for row in rows] == [said, "1 scored, 3 unparsed"]

"""The report shows a floor or ceiling next to a score over the same task, data, docs and tries alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from creval.report.baselines import Baselines, find_baselines

COUNTS = {"scored": 4, "unparsed": 0, "truncated": 0, "refused": 0, "errored": 0, "skipped": 0}


def entry(value: float | None, skipped: int = 0, n: int = 4, **changes: Any) -> dict[str, Any]:
    """A task's part of results.json, as far as baselines look at it."""
    metric = {"name": "right", "condition": None, "value": value, "n": n, "counts": {**COUNTS, "skipped": skipped}}
    return {"hash": "h", "dataset": "d", "docs_digest": "a" * 64, "repeats": 1, "metrics": [metric], **changes}


def runs(folder: Path, *entries: tuple[str, dict[str, Any]]) -> Baselines:
    for number, (model, task) in enumerate(entries):
        (folder / f"run{number}").mkdir()
        results = {"model": model, "tasks": [task]}
        (folder / f"run{number}" / "results.json").write_text(json.dumps(results), encoding="utf-8")
    return find_baselines(folder)


def beside(found: Baselines, task: dict[str, Any]) -> tuple[float | None, float | None]:
    metric = task["metrics"][0]
    return found.value_of(task, metric, "floor"), found.value_of(task, metric, "ceiling")


def test_the_same_docs_are_next_to_each_other(tmp_path: Path) -> None:
    found = runs(tmp_path, ("baseline/ceiling", entry(1.0)), ("baseline/floor", entry(0.25)), ("a/b", entry(0.5)))
    task = entry(0.6)
    assert beside(found, task) == (0.25, 1.0)
    assert found.known(task) == ["floor", "ceiling"]
    assert found.elsewhere(task) == []


@pytest.mark.parametrize(
    "other", [{"docs_digest": "b" * 64}, {"dataset": "e"}, {"repeats": 2}, {"docs_digest": None}], ids=str
)
def test_other_docs_do_not(tmp_path: Path, other: dict[str, Any]) -> None:
    found = runs(tmp_path, ("baseline/ceiling", entry(1.0, **other)), ("baseline/floor", entry(0.25)))
    task = entry(0.6)
    assert beside(found, task) == (0.25, None)
    assert found.known(task) == ["floor"]
    assert found.elsewhere(task) == ["ceiling"]


def test_another_task_is_not_even_elsewhere(tmp_path: Path) -> None:
    found = runs(tmp_path, ("baseline/floor", entry(0.25, hash="other")))
    assert beside(found, entry(0.6)) == (None, None)
    assert found.known(entry(0.6)) == found.elsewhere(entry(0.6)) == []


def test_a_baseline_that_left_docs_out_does_not_count_and_of_others_the_fullest_does(tmp_path: Path) -> None:
    fewer = entry(0.4, n=3)
    cut = entry(0.9, skipped=1, n=9)
    found = runs(tmp_path, ("baseline/floor", entry(0.25)), ("baseline/floor", fewer), ("baseline/floor", cut))
    assert beside(found, entry(0.6)) == (0.25, None)

"""What a report says next to its numbers is true of every one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from creval.api import RunResult
from creval.cli.commands.report import _rows
from creval.cli.run_summary import _complain
from creval.report.baselines import Baselines
from creval.types.sample import MissingScore, SampleKey, ScoreRecord, Status
from creval_compare.runs_table import print_runs, runs_table

STATUSES = ("scored", "unparsed", "truncated", "refused", "errored", "skipped")


def counts(**some: int) -> dict[str, int]:
    return dict.fromkeys(STATUSES, 0) | some


def metric(name: str, value: float | None, **some: int) -> dict[str, Any]:
    return {
        "name": name,
        "condition": None,
        "value": value,
        "ci_low": None,
        "ci_high": None,
        "n": some.get("scored", 0),
        "primary": False,
        "no_interval": None,
        "cluster": "doc",
        "counts": counts(**some),
    }


def result(folder: str, plugin: str, task: str, metrics: list[dict[str, Any]], **some: int) -> RunResult:
    errors = [{"doc": "d1", "condition": "default", "repeat": 0, "reason": "no judge"}] if some.get("errored") else []
    entry = {"task": task, "qualified": f"{plugin}/{task}", "metrics": metrics, "counts": counts(**some)}
    entry |= {"planned": sum(some.values()), "first_errors": errors, "hash": plugin, "dataset": "d"}
    return RunResult(Path(folder), {"model": f"m/{folder}", "status": "done", "tasks": [entry]})


PARTLY = [metric("pass@1", 1.0, scored=4), metric("neogauge", None, errored=4), metric("divergent", None, errored=4)]


def test_the_sentence_on_errored_samples_names_the_metrics_it_is_true_of(capsys: pytest.CaptureFixture[str]) -> None:
    _complain(result("one", "neocoder", "neocoder", PARTLY, errored=4), 1.0)
    said = capsys.readouterr().err
    assert "count in no metric" not in said
    assert "100.0% of the samples ended as errored; each counts in the metrics whose scores it has." in said
    assert "neocoder: 4 samples errored (4 missing from neogauge, divergent); the first 1:" in said


def test_where_all_metrics_lack_them_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    _complain(result("one", "local", "t", [metric("a", 0.5, scored=3, errored=1)], scored=3, errored=1), 0.25)
    said = capsys.readouterr().err
    assert "25.0% of the samples ended as errored; they count in no metric." in said
    assert "t: 1 sample errored:" in said


def test_next_to_each_other_runs_show_the_counts_of_each_metric(capsys: pytest.CaptureFixture[str]) -> None:
    runs = [result(name, "neocoder", "neocoder", PARTLY, errored=4) for name in ("one", "two")]
    print_runs(runs, Baselines())
    said = capsys.readouterr().out
    assert "neocoder: neogauge, divergent: 0 scored, 4 errored" in said.splitlines()
    assert "neocoder: 0 scored, 4 errored" not in said.splitlines() and "neocoder: pass@1" not in said


def test_tasks_of_one_name_from_two_plugins_are_two_rows_and_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    runs = [
        result("one", "association", "rat", [metric("rat", 0.9, scored=30)], scored=30),
        result("two", "local", "rat", [metric("rat", 0.4, scored=30)], scored=30),
    ]
    _, rows = runs_table(runs, Baselines())
    assert [row[:2] for row in rows] == [["association/rat", "rat"], ["local/rat", "rat"]]
    assert [[cell is None for cell in row[2:4]] for row in rows] == [[False, True], [True, False]]
    print_runs(runs, Baselines())
    assert "association/rat and local/rat are different tasks called rat" in capsys.readouterr().out
    _, rows = runs_table([runs[0], runs[0]], Baselines())
    assert [row[0] for row in rows] == ["rat"]
    assert [row["task"] for row in _rows(runs, Baselines())] == ["association/rat", "local/rat"]
    assert [row["task"] for row in _rows(runs[:1], Baselines())] == ["rat"]
    assert [(row["task"], row["qualified"]) for run in runs for row in run.to_rows()] == [
        ("rat", "association/rat"),
        ("rat", "local/rat"),
    ]


@pytest.mark.parametrize("missing", [{}, {"neogauge": MissingScore(Status.ERRORED, "no augmenter")}])
def test_a_score_that_an_errored_sample_has_is_scored(missing: dict[str, MissingScore]) -> None:
    record = ScoreRecord(SampleKey("t", "d", "c", 0), Status.ERRORED, {"pass@1": 1.0}, missing=missing)
    assert (record.status_of("pass@1"), record.status_of("neogauge")) == (Status.SCORED, Status.ERRORED)

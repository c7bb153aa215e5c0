"""Suites that report one number: the mean of a metric over their tasks, with its interval and the table behind it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.small_suite import task_with, write_tasks

from creval import RunOptions, run
from creval.cli.commands.report import report
from creval.engine.run import resume
from creval.errors import TaskError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex

TASK = task_with("""
metrics: [{{name: exact_match, failed: zero, binary: true}}, {{name: again, from: exact_match, failed: zero}}]
baselines: {{floor: {{fixed: "yes"}}, ceiling: target}}
""")
SUITE = """
schema: 1
suite: three
version: 1.0.0
title: Three tasks
metrics:
  - {name: exact_match}
  - {name: pooled, from: exact_match, average: weighted}
tasks: [./a.yaml, ./b.yaml, {suite: ./inner.yaml}]
"""
INNER = """
schema: 1
suite: inner
version: 1.0.0
title: Inner
metrics: [{name: again}]
tasks: [./b.yaml, ./c.yaml]
"""
RIGHT = {"a": (3, 4), "b": (1, 2), "c": (6, 10)}


@pytest.fixture
def suite(tmp_path: Path) -> str:
    write_tasks(tmp_path, TASK, RIGHT)
    (tmp_path / "inner.yaml").write_text(INNER)
    (tmp_path / "three.yaml").write_text(SUITE)
    return str(tmp_path / "three.yaml")


def test_a_suite_reports_its_means_with_intervals(suite: str, tmp_path: Path) -> None:
    result = run([suite], "baseline/floor", RunOptions(output=tmp_path / "run"))
    three, inner = result.results["suites"]
    assert (three["task"], three["qualified"], three["tasks"]) == ("three", "local/three", ["a", "b", "c"])
    assert (inner["task"], inner["tasks"]) == ("inner", ["b", "c"])
    macro, pooled = three["metrics"]
    assert macro["value"] == pytest.approx((0.75 + 0.5 + 0.6) / 3) and macro["primary"] and not pooled["primary"]
    assert pooled["value"] == pytest.approx(10 / 16) and macro["n"] == 16
    errors = [each["standard_error"] for each in macro["tasks"]]
    assert macro["standard_error"] == pytest.approx(math.sqrt(sum(error**2 for error in errors)) / 3)
    assert 0 < macro["ci_low"] < macro["value"] < macro["ci_high"] < 1 and macro["method"] == "logit_t"
    assert [each["value"] for each in macro["tasks"]] == [0.75, 0.5, 0.6]
    assert three["counts"]["scored"] == 16
    assert resume(tmp_path / "run").results["suites"] == result.results["suites"]


def test_the_report_has_a_row_for_the_suite(suite: str, tmp_path: Path) -> None:
    for player in ("floor", "ceiling"):
        run([suite], f"baseline/{player}", RunOptions(output=tmp_path / "runs" / player))
    output = CliRunner().invoke(report, [str(tmp_path / "runs" / "floor")]).output
    (line,) = [line for line in output.splitlines() if line.strip().startswith("three")]
    assert "exact_match *" in line and "0.617" in line and "1.000" in line and "16 scored" in line
    both = [str(tmp_path / "runs" / player) for player in ("floor", "ceiling")]
    for more in ([], ["--layout", "models"], ["--latex"], ["--markdown"], ["--csv"], ["--json"]):
        shown = CliRunner().invoke(report, [*both, *more])
        assert shown.exit_code == 0 and "three" in shown.output and "inner" in shown.output, shown.output
    assert "pooled" in CliRunner().invoke(report, [both[0], "--task", "three", "--all"]).output


def test_a_task_alone_has_no_suite(suite: str, tmp_path: Path) -> None:
    result = run([suite.replace("three", "a")], "baseline/floor", RunOptions(output=tmp_path / "run"))
    assert "suites" not in result.results


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("{name: exact_match}", "{name: exact_mach}"), 7, "has no metric 'exact_mach'"),
        (("from: exact_match", "from: exact_mach"), 8, "Did you mean 'exact_match'?"),
        (("average", "averages"), 8, "Did you mean 'average'?"),
        (("weighted", "micro"), 8, "macro or weighted"),
        (("metrics:", "metric:"), 6, "Did you mean 'metrics'?"),
    ],
)
def test_faults_have_file_and_line(suite: str, change: tuple[str, str], line: int, message: str) -> None:
    path = Path(suite)
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(TaskError) as caught:
        TaskIndex(load_plugins()).expand([suite])
    assert f"three.yaml:{line}:" in str(caught.value) and message in str(caught.value)


def test_a_task_whose_docs_all_end_alike_counts_without_spread(suite: str, tmp_path: Path) -> None:
    rows = [{"id": f"c{n}", "target": "yes"} for n in range(5)]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    metric = run([suite], "baseline/floor", RunOptions(output=tmp_path / "run")).results["suites"][0]["metrics"][0]
    assert metric["value"] == pytest.approx((0.75 + 0.5 + 1) / 3) and metric["ci_low"] is not None
    (tmp_path / "b.jsonl").write_text('{"id": "b", "target": "yes"}\n')
    metric = run([suite], "baseline/floor", RunOptions(output=tmp_path / "two")).results["suites"][0]["metrics"][0]
    assert metric["ci_low"] is None and metric["no_interval"] == "b has no standard error"

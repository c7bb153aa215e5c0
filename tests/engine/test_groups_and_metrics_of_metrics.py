"""`by`, `average` and `of` in whole runs: results, report, comparison, faults of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from creval import RunOptions, compare, run
from creval.cli.root import cli
from creval.data.data_options import DataOptions
from creval.errors import TaskError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_testing.check_tasks import check_all

TASK = """
schema: 1
task: topics
version: 1.0.0
title: Topics
dataset: {source: file, file: docs.jsonl, id: id}
prompt: [{role: user, content: "{{ id }}"}]
parse: text
score: [exact_match, {includes: {field: part}}]
METRICS
baselines: {floor: {fixed: "yes no"}, ceiling: target}
"""
METRICS = """metrics:
  - {name: exact_match, failed: zero, by: topic}
  - {name: includes, failed: zero}
  - {name: f1, of: {f1: [exact_match, includes]}}
  - {name: gain, of: {difference: [includes, exact_match]}, by: topic}
"""
TOPICS = ["law"] * 8 + ["art"] * 4 + ["z [odd]"] * 2


def written(folder: Path, metrics: str = METRICS, change: tuple[str, str] = ("", "")) -> str:
    rows = []
    for place, topic in enumerate(TOPICS):
        target = "yes no" if place % 4 else "other"  # 3 of 4 right
        rows.append({"id": f"d{place}", "topic": topic, "target": target, "part": "no" if place % 3 else "x"})
    folder.mkdir(exist_ok=True)
    (folder / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "topics.yaml").write_text(TASK.replace("METRICS\n", metrics).replace(*change))
    return str(folder / "topics.yaml")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("groups")
    task = written(folder)
    for name in ("floor", "ceiling"):
        run([task], f"baseline/{name}", RunOptions(output=folder / "runs" / name))
    results = json.loads((folder / "runs" / "floor" / "results.json").read_text())
    return folder / "runs", {metric["name"]: metric for metric in results["tasks"][0]["metrics"]}


def test_groups_have_numbers_of_their_own(made: tuple[Path, dict[str, Any]]) -> None:
    _, found = made
    assert list(found) == [
        "exact_match",
        *(f"exact_match[topic={name}]" for name in ("art", "law", "z [odd]")),
        *("exact_match[macro by topic]", "exact_match[weighted by topic]", "includes", "f1", "gain"),
        *(f"gain[topic={name}]" for name in ("art", "law", "z [odd]")),
    ]
    law, art = found["exact_match[topic=law]"], found["exact_match[topic=art]"]
    assert (law["value"], law["n"], law["by"], law["group"]) == (0.75, 8, "topic", "law")
    assert law["ci_low"] < 0.75 < law["ci_high"] and law["counts"]["scored"] == 8 and not law["primary"]
    assert (art["value"], art["n"]) == (0.75, 4)
    assert found["exact_match"]["primary"] and "by" not in found["exact_match"]
    macro, weighted = found["exact_match[macro by topic]"], found["exact_match[weighted by topic]"]
    assert macro["value"] == pytest.approx((0.75 + 0.75 + 0.5) / 3) and macro["average"] == "macro"
    assert weighted["value"] == pytest.approx(found["exact_match"]["value"])
    assert macro["ci_low"] < macro["value"] < macro["ci_high"] and macro["n"] == 14


def test_metrics_of_metrics_have_an_interval_of_the_bootstrap(made: tuple[Path, dict[str, Any]]) -> None:
    _, found = made
    exact, part = found["exact_match"]["value"], found["includes"]["value"]
    assert found["f1"]["value"] == pytest.approx(2 * exact * part / (exact + part))
    assert found["gain"]["value"] == pytest.approx(part - exact)
    assert found["f1"]["method"] == "cluster_bootstrap" and found["f1"]["ci_low"] < found["f1"]["value"]
    assert (found["f1"]["n"], found["f1"]["clusters"], found["f1"]["failed"]) == (14, 14, None)
    assert found["f1"]["definition"]["of"]["how"] == "f1" and len(found["f1"]["definition"]["of"]["parts"]) == 2


def said(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, list(arguments))
    assert result.exit_code == 0, result.output
    return result


def test_the_report_shows_the_groups_of_the_primary_metric(made: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = made
    output = said("report", str(folder / "floor"), "--markdown").output.replace("\\", "")
    for name in ("exact_match[topic=law]", "exact_match[macro by topic]", "z [odd]"):
        assert name in output, output
    assert "gain[" not in output and "f1" not in output
    assert "topic=law" in said("report", str(folder / "floor")).output
    assert "gain[topic=law]" in said("report", str(folder / "floor"), "--all").output
    assert "topic=law" in said("report", str(folder / "floor"), "--metric", "gain", "--latex").output
    rows = json.loads(said("report", str(folder / "floor"), "--json").output)
    assert {row.get("group") for row in rows if row.get("by") == "topic"} == {"art", "law", "z [odd]", None}
    assert "by,group" in said("report", str(folder / "floor"), "--csv").output.splitlines()[0]
    models = said("report", str(folder / "floor"), str(folder / "ceiling"), "--layout", "models").output
    assert "topic=" not in models
    beside = said("report", str(folder / "floor"), str(folder / "ceiling")).output
    assert "topic=law" in beside


def test_two_runs_are_compared_by_group_and_in_combined_metrics(made: tuple[Path, dict[str, Any]]) -> None:
    folder, found = made
    compared = compare([folder / "floor", folder / "ceiling"])
    rows = {row["metric"]: row for row in compared.to_rows()}
    assert rows.keys() == found.keys()
    for name, row in rows.items():
        assert row["first"] == pytest.approx(found[name]["value"]), name
    assert rows["exact_match[topic=law]"]["docs"] == 8 and rows["exact_match[macro by topic]"]["docs"] == 14
    assert rows["exact_match[macro by topic]"]["second"] == 1.0
    assert rows["gain"]["interval"] == "cluster_bootstrap" and rows["gain"]["low"] < rows["gain"]["difference"]


def test_the_metric_itself_may_be_a_macro_mean(tmp_path: Path) -> None:
    metrics = "metrics:\n  - {name: exact_match, failed: zero, by: topic, average: macro}\n"
    task = written(tmp_path, metrics)
    result = run([task], "baseline/floor", RunOptions(output=tmp_path / "run"))
    found = {metric["name"]: metric["value"] for metric in result.results["tasks"][0]["metrics"]}
    assert found["exact_match"] == pytest.approx(2 / 3)
    assert found["exact_match[micro by topic]"] == pytest.approx(10 / 14)
    assert "exact_match[macro by topic]" not in found
    own = TaskIndex(load_plugins()).load(task).hash
    assert TaskIndex(load_plugins()).load(written(tmp_path, metrics.replace("macro", "weighted"))).hash != own


def test_every_condition_has_its_groups(tmp_path: Path) -> None:
    task = written(tmp_path, METRICS, ("baselines", "conditions: {temperature: [0, 1]}\nbaselines"))
    result = run([task], "baseline/floor", RunOptions(output=tmp_path / "run"))
    found = {(m["name"], m["condition"]): m for m in result.results["tasks"][0]["metrics"]}
    law = found["exact_match[topic=law]", "temperature=1"]
    assert (law["n"], law["counts"]["scored"]) == (8, 8) and found["exact_match[topic=law]", None]["n"] == 16
    assert found["exact_match[topic=law]", None]["clusters"] == 8 and ("f1", "temperature=0") in found


@pytest.mark.parametrize(
    ("metrics", "line", "message"),
    [
        ("  - {name: f1, of: {f1: [exact_match, exact_mach]}}", 12, "Did you mean 'exact_match'?"),
        ("  - {name: f1, of: {f1: [exact_match, f1]}}", 12, "no metric with its own scores is called 'f1'"),
        ("  - {name: f1, of: {harmonic_men: [exact_match, exact_match]}}", 12, "Did you mean 'harmonic_mean'?"),
        ("  - {name: f1, of: {f1: [exact_match]}}", 12, "f1"),
        ("  - {name: f1, off: {f1: [exact_match, exact_match]}, failed: zero}", 12, "Did you mean 'of'?"),
        ("  - {name: f1, of: {f1: [exact_match, exact_match]}, failed: zero}", 12, "has no 'failed'"),
        ("  - {name: includes}", 12, "the key 'failed' is missing"),
        ("  - {name: includes, failed: zero, average: macro}", 12, "needs by"),
        ("  - {name: includes, failed: zero, by: topic, average: makro}", 12, "macro"),
        ("  - {name: includes, failed: zero, by: topic, group: id}", 12, "either group or by"),
        ("  - {name: includes, failed: zero, bye: topic}", 12, "Did you mean 'by'?"),
    ],
)
def test_faults_have_file_and_line(tmp_path: Path, metrics: str, line: int, message: str) -> None:
    task = written(tmp_path, f"metrics:\n  - {{name: exact_match, failed: zero}}\n{metrics}\n")
    with pytest.raises(TaskError) as caught:
        TaskIndex(load_plugins()).load(task)
    assert f"topics.yaml:{line}:" in str(caught.value) and message in str(caught.value)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("  - {name: includes, failed: zero, by: topics}", "lacks the field 'topics', by which 'includes' groups docs"),
        ("  - {name: includes, failed: zero, aggregate: median, by: topic, average: macro}", "is a mean over groups"),
        (
            "  - {name: includes, failed: zero, aggregate: median}\n"
            "  - {name: d, of: {ratio: [includes, exact_match]}}",
            "is part of 'd'",
        ),
    ],
)
def test_faults_that_the_data_show(tmp_path: Path, metrics: str, message: str) -> None:
    task = written(tmp_path, f"metrics:\n  - {{name: exact_match, failed: zero}}\n{metrics}\n")
    problems = check_all([task], load_plugins(), DataOptions(offline=True))
    assert any(message in problem.message for problem in problems), problems
    assert all(problem.line for problem in problems)


def test_values_of_docs_that_may_not_be_stored_are_no_names(tmp_path: Path) -> None:
    task = written(tmp_path, METRICS, ("baselines", "store: reference\nbaselines"))
    with pytest.raises(TaskError, match="store: reference forbids"):
        TaskIndex(load_plugins()).load(task)


def test_a_median_has_groups_and_no_means_over_them(tmp_path: Path) -> None:
    task = written(tmp_path, "metrics:\n  - {name: includes, failed: zero, aggregate: median, by: topic}\n")
    result = run([task], "baseline/floor", RunOptions(output=tmp_path / "run"))
    names = [metric["name"] for metric in result.results["tasks"][0]["metrics"]]
    assert len(names) == 4 and not any("macro" in name for name in names)

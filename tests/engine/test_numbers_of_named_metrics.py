"""Suites whose numbers are means of named metrics of named tasks, each put on a scale from 0 to 1: by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.small_suite import task_with, write_tasks

import creval
from creval import RunOptions, run
from creval.cli.commands.report import report
from creval.errors import TaskError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex

TASK = task_with("""
metrics:
  - {{name: right, from: exact_match, failed: zero, binary: true}}
  - {{name: wrong, from: exact_match, failed: zero, higher_is_better: false}}
  - {{name: plain, from: exact_match, failed: zero}}
  - {{name: mixed, of: {{mean: [right, plain]}}}}
baselines: {{floor: {{fixed: "yes"}}, ceiling: target}}
""")
SUITE = """
schema: 1
suite: made
version: 1.0.0
title: Made of parts
metrics:
  - {name: both, of: [first, second]}
  - name: first
    of:
      - {task: a, metric: right}
      - {task: [b, local/c], metric: [right, plain], range: [-1, 1]}
  - {name: second, of: [{task: c@again, metric: right}]}
  - {name: right}
tasks: [./a.yaml, ./b.yaml, ./c.yaml, {task: ./c.yaml, as: again, repeats: 2}]
"""
RIGHT = {"a": (3, 4), "b": (1, 2), "c": (6, 10)}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    write_tasks(tmp_path, TASK, RIGHT)
    (tmp_path / "made.yaml").write_text(SUITE)
    return tmp_path / "made.yaml"


def numbers(folder: Path) -> dict[str, Any]:
    (made,) = json.loads((folder / "results.json").read_text())["suites"]
    return {each["name"]: each for each in made["metrics"]}


def test_numbers_of_parts_by_hand(suite: Path, tmp_path: Path) -> None:
    runs = [tmp_path / "runs" / name for name in ("floor", "ceiling")]
    for folder in runs:
        run([str(suite)], f"baseline/{folder.name}", RunOptions(output=folder))
    found = numbers(runs[0])
    rest = [(value + 1) / 2 for value in (0.5, 0.5, 0.6, 0.6, 0.6, 0.6)]  # `local/c` names both versions of c
    assert found["first"]["value"] == pytest.approx((0.75 + sum(rest) / 6) / 2)
    assert found["second"]["value"] == pytest.approx(0.6) and found["second"]["average"] == "parts"
    assert found["both"]["value"] == pytest.approx((found["first"]["value"] + 0.6) / 2)
    assert found["both"]["primary"] and not found["first"]["primary"]
    assert found["right"]["value"] == pytest.approx((0.75 + 0.5 + 0.6 + 0.6) / 4)
    entries = found["first"]["tasks"]
    assert [(each["task"], each["share"], each["range"]) for each in entries[:2]] == [
        ("a", 0.5, [0, 1]), ("b", pytest.approx(1 / 12), [-1, 1])
    ]  # fmt: skip
    # errors of one task are added as they are, those of tasks as of independent samples
    errors = {name: sum(e["share"] * e["standard_error"] / (e["range"][1] - e["range"][0]) for e in entries
                        if e["task"] == name) for name in ("a", "b", "c", "c@again")}  # fmt: skip
    assert found["first"]["standard_error"] == pytest.approx(sum(error**2 for error in errors.values()) ** 0.5)
    assert found["first"]["method"] == "logit_t"

    # two metrics of one task are of the same samples
    assert found["first"]["n"] == found["first"]["counts"]["scored"] == 4 + 2 + 10 + 20
    contrasts = {each.metric: each.contrasts[0].difference for each in creval.compare(runs, tasks=["made"]).comparisons}
    assert contrasts["first"].one == pytest.approx(found["first"]["value"]) and contrasts["first"].other == 1
    assert contrasts["both"].other == 1 and contrasts["first"].low is not None and contrasts["first"].docs == 26
    shown = CliRunner().invoke(report, [str(runs[0]), "--task", "made", "--all"]).output
    assert all(name in shown for name in ("first", "second", "both"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("metric: right}\n", "metric: rigt}\n", "has no metric 'rigt'"),
        ("{task: a,", "{task: aa,", "the suite has no task 'aa'"),
        ("task: c@again", "task: c@agian", "the suite has no task 'c@agian'"),
        ("{task: a, metric: right}", "{task: a, metric: wrong, range: [0, 1]}", "is not better when higher"),
        ("{task: a, metric: right}", "{task: a, metric: mixed}", "has no range"),
        ("[-1, 1]", "[1, 1]", "has an empty range"),
        ("[first, second]", "[first, third]", "'third' in 'both' is not a number of this suite"),
        ("[first, second]", "[first, both]", "'both' in 'both' is not a number of this suite"),
        ("{name: second, of:", "{name: second, average: macro, of:", "and from or average too"),
        ("{name: second, of:", "{name: second, from: right, of:", "and from or average too"),
        ("{task: a, metric: right}", "{task: a, metrics: right}", "Did you mean 'metric'?"),
        ("of: [first, second]", "of: []", "of"),
        ("of: [first, second]", "of: [first, first]", "of"),
        ("metric: [right, plain]", "metric: [right, right]", "metric"),
        ("{name: second, of", "{name: first, of", "two numbers of the suite are called 'first'"),
        ("- {name: right}", "- {name: both, from: right}", "two numbers of the suite are called 'both'"),
        ("[-1, 1]", "[-1]", "range"),
    ],
)
def test_faults_have_file_and_line(suite: Path, old: str, new: str, message: str) -> None:
    text = suite.read_text()
    assert old in text
    suite.write_text(text.replace(old, new, 1))
    with pytest.raises(TaskError) as caught:
        TaskIndex(load_plugins()).expand([str(suite)])
    assert "made.yaml:" in str(caught.value) and message in str(caught.value)


def test_a_task_that_cannot_be_read_is_not_also_missing(suite: Path) -> None:
    file = suite.parent / "b.yaml"
    file.write_text(file.read_text().replace("parse: text", "parse: txt"))
    with pytest.raises(TaskError) as caught:
        TaskIndex(load_plugins()).expand([str(suite)])
    assert "Did you mean 'text'?" in str(caught.value) and "has no task" not in str(caught.value)

"""A suite of two tasks, `a` and `b`, with numbers of its own; `baseline/floor` says yes, `baseline/ceiling` no."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

__all__ = ["YES", "task_with", "write_small_suite", "write_tasks"]

YES = {"a": (9, 10), "b": (17, 30)}
"""Of each task how many docs have the answer yes, and how many there are."""

_HEAD = """
schema: 1
task: {name}
version: 1.0.0
title: One
dataset: {{source: file, file: {name}.jsonl, id: id}}
prompt: [{{role: user, content: "{{{{ id }}}}"}}]
parse: text
score: exact_match
"""
SUITE = """
schema: 1
suite: both
version: 1.0.0
title: Both tasks
metrics:
  - {name: exact_match}
  - {name: pooled, from: exact_match, average: weighted}
tasks: [./a.yaml, ./b.yaml]
"""


def task_with(rest: str) -> str:
    """Return the file of a task that scores by exact_match, its name left open; `rest` are its other keys."""
    return _HEAD + rest.lstrip("\n")


TASK = task_with("""
metrics: [{{name: exact_match, failed: zero, binary: true}}]
baselines: {{floor: {{fixed: "yes"}}, ceiling: {{fixed: "no"}}}}
""")


def write_tasks(folder: Path, task: str, yes: Mapping[str, tuple[int, int]]) -> None:
    """Write tasks and their data: of each how many docs have the answer yes, and how many there are."""
    for name, (right, count) in yes.items():
        rows = [{"id": f"{name}{n}", "target": "yes" if n < right else "no"} for n in range(count)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / f"{name}.yaml").write_text(task.format(name=name))


def write_small_suite(folder: Path) -> str:
    """Write tasks, data and suite, and return the suite's path."""
    write_tasks(folder, TASK, YES)
    (folder / "both.yaml").write_text(SUITE)
    return str(folder / "both.yaml")

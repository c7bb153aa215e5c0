"""A suite of two tasks, `a` and `b`, with numbers of its own; `baseline/floor` says yes, `baseline/ceiling` no."""

from __future__ import annotations

import json
from pathlib import Path

YES = {"a": (9, 10), "b": (17, 30)}
"""Of each task how many docs have the answer yes, and how many there are."""

TASK = """
schema: 1
task: {name}
version: 1.0.0
title: One
dataset: {{source: file, file: {name}.jsonl, id: id}}
prompt: [{{role: user, content: "{{{{ id }}}}"}}]
parse: text
score: exact_match
metrics: [{{name: exact_match, failed: zero, binary: true}}]
baselines: {{floor: {{fixed: "yes"}}, ceiling: {{fixed: "no"}}}}
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


def write_small_suite(folder: Path) -> str:
    """Write tasks, data and suite, and return the suite's path."""
    for name, (right, count) in YES.items():
        rows = [{"id": f"{name}{n}", "target": "yes" if n < right else "no"} for n in range(count)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / f"{name}.yaml").write_text(TASK.format(name=name))
    (folder / "both.yaml").write_text(SUITE)
    return str(folder / "both.yaml")

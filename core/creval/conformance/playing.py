"""Lets a baseline play a few docs of a task, by a real run in a folder of its own."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.api import run
from creval.errors import CrevalError
from creval.tasks.model import Task

if TYPE_CHECKING:
    from creval.conformance.subject import Subject

__all__ = ["SEED", "play"]

SEED = 7


def play(subject: Subject, task: Task, player: str) -> Mapping[str, Any]:
    """Run a baseline on a few docs and return metrics, questions, answers and scores. Raises what a run raises."""
    roles = {role: subject.roles[role] for role in task.roles}
    repeats = _fewest_repeats(subject, task)
    options = replace(subject.options(task), roles=roles, limit=subject.docs, repeats=repeats, seed=SEED)
    with tempfile.TemporaryDirectory(prefix="creval-") as folder:
        done = run([task.qualified], f"baseline/{player}", replace(options, output=Path(folder) / "run"))
        (result,) = done.results["tasks"]
        samples = _rows(done.folder / "samples")
        scores = _rows(done.folder / "scores")
    errored = [key for key, row in scores.items() if row["status"] == "errored"]
    if errored:
        raise CrevalError(f"{errored[0]} of the {player} ended as errored: {scores[errored[0]]['reason']}")
    return {
        "metrics": result["metrics"],
        "questions": {key: [call["messages"] for call in row["calls"]] for key, row in samples.items()},
        "answers": {key: row["answers"] for key, row in samples.items()},
        "scores": {key: row["scores"] for key, row in scores.items()},
    }


def _fewest_repeats(subject: Subject, task: Task) -> int:
    """As many repeats as the metrics need, which are often fewer than the task makes."""
    needed, registry = [1], subject.plugins.registry
    for metric in task.metrics:
        made = registry.get("aggregation", metric.aggregate.name).load()(**metric.aggregate.parameters)
        needed.append(getattr(made, "minimum_repeats", 1))
    needed += [getattr(registry.get("scorer", ref.name).load(), "minimum_repeats", 1) for ref in task.score]
    return max(needed)


def _rows(folder: Path) -> dict[str, dict[str, Any]]:
    rows = [json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_bytes().splitlines()]
    return dict(sorted((f"doc {row['doc_id']!r}, {row['condition']}, {row['repeat']}", row) for row in rows))

"""From results.json to Trackio."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from typing import Any

__all__ = ["numbers", "send", "settings"]


def send(project: str, name: str, results: Mapping[str, Any]) -> None:
    """Write one run to Trackio's database (TRACKIO_DIR, or its Space where TRACKIO_SPACE_ID names one)."""
    import trackio

    with redirect_stdout(sys.stderr):  # its greetings would stand among the JSON of a command
        trackio.init(project=project, name=name, config=settings(results), resume="allow")
        try:
            trackio.log(numbers(results))
        finally:
            trackio.finish()


def numbers(results: Mapping[str, Any]) -> dict[str, float]:
    """Return every number by name: `TASK/METRIC`, its interval and n, how samples ended. Nulls are left out."""
    found: dict[str, float | None] = {}
    for task in results["tasks"]:
        for metric in task["metrics"]:
            condition = f"[{metric['condition']}]" if metric["condition"] else ""
            name = f"{task['task']}/{metric['name']}{condition}"
            found[name] = metric["value"]
            found |= {f"{name}/{part}": metric[part] for part in ("ci_low", "ci_high", "n")}
        found |= {f"{task['task']}/samples/{status}": count for status, count in task["counts"].items()}
    return {name: float(value) for name, value in found.items() if value is not None}


def settings(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the run was made with, as plain data."""
    tasks = {task["task"]: {key: task[key] for key in ("version", "hash", "dataset")} for task in results["tasks"]}
    return {**{key: results[key] for key in ("creval", "model", "roles", "seed", "status")}, "tasks": tasks}

"""A finished run as data for experiment trackers: its numbers by name, and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["run_numbers", "run_settings"]


def run_numbers(results: Mapping[str, Any]) -> dict[str, float]:
    """Return every number of `results.json` by name, without nulls.

    The names are `TASK/METRIC` (followed by the condition in brackets, if any), the same with `/ci_low`, `/ci_high` and
    `/n`, and `TASK/samples/STATUS` for the number of samples with a status.
    """
    found: dict[str, float | None] = {}
    for task in results["tasks"]:
        for metric in task["metrics"]:
            condition = f"[{metric['condition']}]" if metric["condition"] else ""
            name = f"{task['task']}/{metric['name']}{condition}"
            found[name] = metric["value"]
            found |= {f"{name}/{part}": metric[part] for part in ("ci_low", "ci_high", "n")}
        found |= {f"{task['task']}/samples/{status}": count for status, count in task["counts"].items()}
    return {name: float(value) for name, value in found.items() if value is not None}


def run_settings(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings behind `results.json` as plain data: model, roles, seed, hashes, data."""
    tasks = {task["task"]: {key: task[key] for key in ("version", "hash", "dataset")} for task in results["tasks"]}
    return {**{key: results[key] for key in ("creval", "model", "roles", "seed", "status")}, "tasks": tasks}

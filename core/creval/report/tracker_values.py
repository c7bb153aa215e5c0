"""A finished run as data of an experiment tracker: its numbers by name, and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["run_numbers", "run_settings"]


def run_numbers(results: Mapping[str, Any]) -> dict[str, float]:
    """Return every number of `results.json` by name; nulls are left out.

    `TASK/METRIC`, with the condition in brackets where there is one, `/ci_low`, `/ci_high` and `/n` behind it, and
    `TASK/samples/STATUS`: how many samples ended so.
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
    """Return what the run of `results.json` was made with, as plain data: model, roles, seed, hashes, data."""
    tasks = {task["task"]: {key: task[key] for key in ("version", "hash", "dataset")} for task in results["tasks"]}
    return {**{key: results[key] for key in ("creval", "model", "roles", "seed", "status")}, "tasks": tasks}

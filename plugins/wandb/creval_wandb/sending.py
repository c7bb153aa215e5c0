"""From results.json to Weights & Biases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["numbers", "send", "settings"]


def send(project: str, name: str, results: Mapping[str, Any]) -> None:
    """Send one run to Weights & Biases, or with WANDB_MODE=offline write it to WANDB_DIR for `wandb sync`."""
    import wandb

    quiet = wandb.Settings(silent=True, console="off")
    run = wandb.init(project=project, name=name, config=settings(results), settings=quiet)
    try:
        run.log(numbers(results))
    finally:
        run.finish()


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

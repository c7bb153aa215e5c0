"""Finds the floor and the ceiling of a task among the runs of a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["Baselines", "find_baselines"]

Baselines = Mapping[tuple[str, str, str, str | None], Mapping[str, float]]
"""(task hash, dataset, metric, condition) -> {"floor": value, "ceiling": value}."""


def find_baselines(folder: Path) -> Baselines:
    """Read the finished runs of `baseline/floor` and `baseline/ceiling` directly under `folder`.

    Only the same task (by hash), data and metric count; where there are several runs, the one with most values.
    """
    found: dict[tuple[str, str, str, str | None], dict[str, float]] = {}
    sizes: dict[tuple[str, str, str, str | None, str], int] = {}
    for file in sorted(folder.glob("*/results.json")):
        results = _read(file)
        provider, _, which = str(results.get("model", "")).partition("/")
        if provider != "baseline":
            continue
        for task in results["tasks"]:
            for metric in task["metrics"]:
                key = (task["hash"], task["dataset"], metric["name"], metric["condition"])
                if metric["value"] is not None and metric["n"] > sizes.get((*key, which), 0):
                    sizes[(*key, which)] = metric["n"]
                    found.setdefault(key, {})[which] = metric["value"]
    return found


def _read(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}

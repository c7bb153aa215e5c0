"""Runs under the names of other models, with values of their own: what figures of several models are drawn of."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["MODELS", "change_by", "copy_run"]

MODELS = (
    "openrouter/meta-llama/llama-3.3-70b-instruct:free",
    "openrouter/google/gemini-2.5-flash-lite-preview-09-2025",
    "openrouter/openai/gpt-5-mini",
)


def change_by(i: int) -> Callable[[dict[str, Any]], None]:
    def change(task: dict[str, Any]) -> None:
        task["usage"] |= {"cost": 0.02 * 20**i, "input_tokens": 100 * (i + 1), "output_tokens": 200}
        for place, metric in enumerate(task["metrics"]):
            value = 0.25 + 0.2 * i + 0.01 * place
            metric |= {"value": value, "ci_low": value - 0.1, "ci_high": value + 0.15, "no_interval": None}
            metric["standard_error"] = 0.05

    return change


def copy_run(source: Path, target: Path, model: str, change: Callable[[dict[str, Any]], None] = lambda _: None) -> None:
    """Copy a run as that of another model."""
    shutil.copytree(source, target)
    for name in ("run.json", "results.json"):
        text = (target / name).read_text(encoding="utf-8").replace("baseline/floor", model)
        data = json.loads(text)
        if name == "results.json":
            for task in data["tasks"]:
                change(task)
        (target / name).write_text(json.dumps(data), encoding="utf-8")

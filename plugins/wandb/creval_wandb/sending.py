"""Send results.json to Weights & Biases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.plugin.report import run_numbers, run_settings

__all__ = ["send"]


def send(project: str, name: str, results: Mapping[str, Any]) -> None:
    """Send one run to Weights & Biases, or with WANDB_MODE=offline write it to WANDB_DIR for `wandb sync`."""
    import wandb

    quiet = wandb.Settings(silent=True, console="off")
    run = wandb.init(project=project, name=name, config=run_settings(results), settings=quiet)
    try:
        run.log(run_numbers(results))
    finally:
        run.finish()

"""Report finished runs to Weights & Biases. Imports nothing heavy: `wandb` itself only when a run ends."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from creval.plugin import hookimpl

__all__ = ["PROJECT", "creval_run_finished"]

PROJECT = "CREVAL_WANDB_PROJECT"
"""The environment variable for the project; without it nothing is sent."""


@hookimpl
def creval_run_finished(results: Mapping[str, Any], folder: Path) -> None:
    """Send a finished run. A run that is resumed later is sent again under its name."""
    project = os.environ.get(PROJECT)
    if project:
        from creval_wandb.sending import send

        send(project, folder.name, results)

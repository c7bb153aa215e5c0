"""Send results.json to Trackio."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from typing import Any

from creval.plugin.report import run_numbers, run_settings

__all__ = ["send"]


def send(project: str, name: str, results: Mapping[str, Any]) -> None:
    """Write one run to Trackio's database (TRACKIO_DIR, or its Space if TRACKIO_SPACE_ID names one)."""
    import trackio

    with redirect_stdout(sys.stderr):  # its messages would mix with a command's JSON
        trackio.init(project=project, name=name, config=run_settings(results), resume="allow")
        try:
            trackio.log(run_numbers(results))
        finally:
            trackio.finish()

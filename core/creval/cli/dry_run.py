"""`--dry-run`: what a run would take, without a call."""

from __future__ import annotations

from collections.abc import Sequence

from creval.engine.options import RunOptions

__all__ = ["show_estimate"]


def show_estimate(tasks: Sequence[str], model: str, options: RunOptions) -> int:
    """Print the calls, tokens and price to expect, and return the exit code."""
    from creval.engine.estimate import estimate_run
    from creval.report.tables import print_table

    columns = ("task", "samples", "calls", "input tokens", "output tokens at most", "price at most, $")
    rows = [list(row) for row in estimate_run(tasks, model, options)]
    print_table(f"{model}: what to expect", columns, rows)
    return 0

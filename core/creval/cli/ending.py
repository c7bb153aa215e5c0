"""The last words of a run: its results and its exit code."""

from __future__ import annotations

import click

from creval.api import RunResult
from creval.engine.run import Finished
from creval.errors import BudgetError
from creval.report.results import print_results
from creval.report.visible import visible

__all__ = ["ending"]

LONGEST = 1_000
"""Of each error at most so many characters are shown; all of it stands in the run folder."""


def ending(finished: Finished, allowed_error_share: float) -> int:
    """Print the results table and what the user should know, and return the exit code."""
    result = RunResult(finished.folder, finished.results)
    print_results([result])
    click.echo(f"run folder: {finished.folder}")
    if finished.budget is not None:
        click.echo(f"stopped by the budget: {finished.budget.what}", err=True)
        click.echo(
            f"  Go on after raising it: creval resume {finished.folder} --max-cost ... or --max-calls ...", err=True
        )
        return BudgetError.exit_code
    share = result.error_share()
    if share > allowed_error_share:
        _complain(result, share)
        return 1
    return 0


def _complain(result: RunResult, share: float) -> None:
    click.echo(f"{share:.1%} of the samples ended as errored; they count in no metric. The first of them:", err=True)
    for task in result.results["tasks"]:
        for line in task["first_errors"]:
            shown = visible(f"{task['task']} {line}", LONGEST).replace("\n", "\n    ")
            click.echo(f"  {shown}", err=True)
    click.echo(f"  Try them again with: creval resume {result.folder}", err=True)

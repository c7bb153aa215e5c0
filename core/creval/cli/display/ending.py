"""The last words of a run: its results and its exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from creval.api import RunResult
from creval.cli.display.baseline_notes import baseline_notes
from creval.cli.display.flag_notes import flag_notes
from creval.engine.run import Finished
from creval.errors import BudgetError
from creval.report.baselines import find_baselines
from creval.report.results import count_groups, listed_names, print_results
from creval.runs.commands import resume_command
from creval.visible import visible

__all__ = ["ending", "last_words"]

LONGEST = 1_000
"""Of each error at most so many characters are shown; all of it stands in the run folder."""


def ending(finished: Finished, allowed_error_share: float) -> int:
    """Print the results table and what the user should know, and return the exit code."""
    result = RunResult(finished.folder, finished.results)
    print_results([result], find_baselines(finished.folder.parent))
    click.echo(f"run folder: {finished.folder}")
    return last_words(finished, allowed_error_share)


def last_words(finished: Finished, allowed_error_share: float) -> int:
    """Print what the user should know of a run beside its results, and return the exit code."""
    result = RunResult(finished.folder, finished.results)
    beside = finished.folder.parent
    baselines = find_baselines(beside)
    for line in baseline_notes([result], baselines, beside, absent=False):
        click.echo(line, err=True)
    for line in flag_notes(finished.results):
        click.echo(visible(line), err=True)
    for task in result.results["tasks"]:
        for note in task.get("notes", ()):
            click.echo(visible(f"{task['task']}: {note}"), err=True)
    if finished.budget is not None:
        click.echo(f"stopped by the budget: {finished.budget.what}", err=True)
        again = resume_command(finished.folder, also="--max-cost ... or --max-calls ...")
        click.echo(f"  Go on after raising it: {again}", err=True)
        return BudgetError.exit_code
    share = result.error_share()
    if share > allowed_error_share:
        _complain(result, share)
        return 1
    return 0


def _complain(result: RunResult, share: float) -> None:
    faulty = [task for task in result.results["tasks"] if task["first_errors"]]
    partly = any(_counted_in(task) for task in faulty)
    where = "each counts in the metrics whose scores it has" if partly else "they count in no metric"
    click.echo(f"{share:.1%} of the samples ended as errored; {where}.", err=True)
    for task in faulty:
        errored, listed = task["counts"]["errored"], len(task["first_errors"])
        first = f"; the first {listed}" if listed < errored else ""
        click.echo(visible(f"  {task['task']}: {_samples(errored)} errored{_lacking(task)}{first}:"), err=True)
        for reason, names in _by_reason(task["first_errors"]).items():
            which = names[0] if len(names) == 1 else f"{_samples(len(names))} ({', '.join(names)})"
            head, *rest = visible(f"{which}: {reason}", LONGEST).splitlines()
            click.echo("\n".join([f"    {head}", *(f"      {line.strip()}" for line in rest)]), err=True)
    click.echo(f"  Try them again with: {resume_command(result.folder)}", err=True)


def _counted_in(task: Mapping[str, Any]) -> list[str]:
    """The metrics in which fewer samples errored than in the task as a whole."""
    groups = count_groups(task)
    return [name for counts, names in groups if counts["errored"] < task["counts"]["errored"] for name in names]


def _lacking(task: Mapping[str, Any]) -> str:
    """Say in which metrics errored samples are missing, where that is not all."""
    if not _counted_in(task):
        return ""
    said = [
        f"{counts['errored']} missing from {listed_names(names)}"
        for counts, names in count_groups(task)
        if counts["errored"]
    ]
    return f" ({'; '.join(said) or 'missing from no metric'})"


def _samples(count: int) -> str:
    return f"{count} sample" if count == 1 else f"{count} samples"


def _by_reason(errors: Sequence[Mapping[str, Any]]) -> Mapping[str, Sequence[str]]:
    """Group errored samples, named by what tells them apart, by their reason."""
    conditions = len({error["condition"] for error in errors}) > 1
    repeats = len({error["repeat"] for error in errors}) > 1
    groups: dict[str, list[str]] = {}
    for error in errors:
        words = [error["doc"], *([error["condition"]] if conditions else [])]
        words += [f"repeat {error['repeat']}"] if repeats else []
        groups.setdefault(error["reason"], []).append(" ".join(words))
    return groups

"""`creval validate`: every problem of task and suite files, with file, line and column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from creval.plugin import counted
from creval.plugin.checking import Problem
from creval.plugin.loading import visible

if TYPE_CHECKING:
    from pathlib import Path

    from creval.plugin.authoring import Task
    from creval.plugin.checking import Consents

__all__ = ["validate"]


@click.command(epilog="Example: creval validate kumo_easy --tests")
@click.argument("targets", nargs=-1, required=True, metavar="PATH_OR_TASK...")
@click.option("--tests", is_flag=True, help="Also score the gold and mutant answers of the tasks; calls no model.")
@click.option("--resource", multiple=True, metavar="NAME=R", help="With --tests: use another resource.")
@click.option("--allow-code-execution", is_flag=True, help="With --tests: allow programs to run in the sandbox.")
@click.option(
    "--trust-remote-code", is_flag=True, help="With --tests: allow encoders to run code from their own repository."
)
@click.option("--json", "as_json", is_flag=True, help="Print problems and warnings as JSON, for editors.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Print them as SARIF 2.1.0, for code scanning.")
@click.pass_context
def validate(ctx: click.Context, /, targets: Sequence[str], tests: bool, resource: Sequence[str], **given: Any) -> None:
    """Check task and suite files (or folders, or task names) and their data. The exit code is 2 if there is a problem.

    Remote data are not downloaded. All variants of a file are checked; a task name checks only that task.
    """
    from creval.plugin.commands import consents_of
    from creval.plugin.data import DataOptions
    from creval.plugin.loading import load_plugins
    from creval_testing.check_tasks import check_all, check_warnings

    forms = [name for name in ("as_json", "as_sarif") if given[name]]
    if len(forms) > 1:
        raise click.UsageError("--json and --sarif are two forms of one list; give one of them")
    plugins = load_plugins()
    options = DataOptions.from_environment(offline=True)
    problems = check_all(targets, plugins, options)
    if tests and not problems:
        problems = _run_tests(targets, resource, consents_of(given), to_error=bool(forms))
    warnings = [] if problems else check_warnings(targets, plugins)
    if forms:
        _print_form(forms[0], problems, warnings)
    else:
        _print_lines(problems, warnings)
    if problems:
        ctx.exit(2)


def _print_lines(problems: Sequence[Problem], warnings: Sequence[Problem]) -> None:
    for problem in problems:
        click.echo(visible(str(problem)))
    if problems:
        click.echo(f"{len(problems)} problem{'s' if len(problems) > 1 else ''} found", err=True)
        return
    for warning in warnings:
        click.echo(f"warning: {visible(str(warning))}", err=True)
    click.echo("no problems found")


def _print_form(form: str, problems: Sequence[Problem], warnings: Sequence[Problem]) -> None:
    import json

    import creval
    from creval_testing.problem_formats import problem_records, sarif

    if form == "as_sarif":
        data: Any = sarif(problems, warnings, creval.__version__)
    else:
        data = {"problems": [*problem_records(problems), *problem_records(warnings, "warning")]}
    click.echo(json.dumps(data, indent=2))


def _run_tests(
    targets: Sequence[str], resource: Sequence[str], consents: Consents, to_error: bool = False
) -> list[Problem]:
    """Run the examples of the tasks and return their problems."""
    import asyncio
    from dataclasses import replace

    from creval.plugin.authoring import RunOptions, TaskIndex
    from creval.plugin.commands import texts
    from creval.plugin.loading import load_plugins
    from creval_testing.check_files import places_of
    from creval_testing.task_examples import run_examples

    plugins = load_plugins()
    chosen = texts(resource, "--resource")
    problems = []
    index = TaskIndex(plugins)
    for task in index.expand([place for target in targets for place in places_of(target, index)]):
        own = {name: spec for name, spec in chosen.items() if name in task.resources}
        options = replace(RunOptions(resources=own, offline=True), **consents)
        outcomes = asyncio.run(run_examples(task, options, plugins))
        click.echo(f"{task.qualified}: {counted(len(outcomes), 'tests')} run", err=to_error)
        problems += [
            Problem(f"{task.name} {each.example}: {fault}", _file_of(task, to_error))
            for each in outcomes
            for fault in each.faults
        ]
    return problems


def _file_of(task: Task, wanted: bool) -> Path | None:
    """Return the file of a failed test for machine-readable output; a human reader knows it from the command."""
    return task.file if wanted else None

"""`creval validate`: every problem of task and suite files, with file, line and column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from creval.visible import visible

if TYPE_CHECKING:
    from creval.engine.options import Resuming

__all__ = ["validate"]


@click.command(epilog="Example: creval validate kumo_easy --tests")
@click.argument("targets", nargs=-1, required=True, metavar="PATH_OR_TASK...")
@click.option("--tests", is_flag=True, help="Also run the gold and mutant answers that the tasks state; asks no model.")
@click.option("--resource", multiple=True, metavar="NAME=R", help="With --tests: another instrument.")
@click.option("--allow-code-execution", is_flag=True, help="With --tests: let the tests' programs run in the sandbox.")
@click.option("--trust-remote-code", is_flag=True, help="With --tests: let encoders run program code that they bring.")
@click.pass_context
def validate(ctx: click.Context, /, targets: Sequence[str], tests: bool, resource: Sequence[str], **given: Any) -> None:
    """Check task and suite files (or folders, or task names) and their data. Exit code 2 where a problem was found.

    Remote data are not fetched for it. Of a file with variants all are checked; by name one task is tested.
    """
    from creval.cli.values import consents_of
    from creval.data.check import check_all, check_warnings
    from creval.data.options import DataOptions
    from creval.plugins.loader import load_plugins

    plugins = load_plugins()
    options = DataOptions.from_environment(offline=True)
    problems = [str(problem) for problem in check_all(targets, plugins, options)]
    if tests and not problems:
        problems = _run_tests(targets, resource, consents_of(given))
    for problem in problems:
        click.echo(visible(problem))
    if problems:
        click.echo(f"{len(problems)} problem{'s' if len(problems) > 1 else ''} found", err=True)
        ctx.exit(2)
    for warning in check_warnings(targets, plugins):
        click.echo(f"warning: {visible(str(warning))}", err=True)
    click.echo("no problems found")


def _run_tests(targets: Sequence[str], resource: Sequence[str], consents: Resuming) -> list[str]:
    """Run the examples of the tasks and return what went wrong."""
    import asyncio
    from dataclasses import replace

    from creval.cli.values import texts
    from creval.engine.examples import run_examples
    from creval.engine.options import RunOptions
    from creval.plugins.loader import load_plugins
    from creval.tasks.check import places_of
    from creval.tasks.index import TaskIndex

    plugins = load_plugins()
    chosen = texts(resource, "--resource")
    problems = []
    index = TaskIndex(plugins)
    for task in index.expand([place for target in targets for place in places_of(target, index)]):
        own = {name: spec for name, spec in chosen.items() if name in task.resources}
        options = replace(RunOptions(resources=own, offline=True), **consents)
        outcomes = asyncio.run(run_examples(task, options, plugins))
        click.echo(f"{task.qualified}: {len(outcomes)} tests run")
        problems += [f"{task.name} {each.example}: {fault}" for each in outcomes for fault in each.faults]
    return problems

"""`creval new`: a plugin or a task to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from creval.visible import visible

__all__ = ["new"]


@click.group(no_args_is_help=True, epilog="Example: creval new plugin rhymes")
def new() -> None:
    """Write a plugin or a task that works, to be changed into your own."""


@new.command(epilog="Example: creval new plugin rhymes --licence MIT")
@click.argument("name")
@click.option("--folder", type=click.Path(path_type=Path), default=Path(), help="Where it is written (here).")
@click.option("--licence", default="MIT", show_default=True, help="MIT, BSD-3-Clause or Apache-2.0.")
@click.option("--author", default="", help="Who holds the copyright.")
def plugin(name: str, folder: Path, licence: str, author: str) -> None:
    """Write the package creval-NAME: a task, a scorer, three docs, tests, workflow, README, changelog, licence."""
    from creval.scaffold.writing import new_plugin

    files = new_plugin(name, folder, licence, author)
    home = Path(files[0]).parent
    for file in files:
        click.echo(visible(str(file)))
    click.echo(visible(f"\nNow:\n  cd {home}\n  pip install -e '.[test]'\n  pytest\n  creval ls {name}"))


@new.command(epilog="Example: creval new task riddles.yaml --like choices")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--like", default="questions", show_default=True, help="questions, choices, judged or mode_collapse.")
def task(file: Path, like: str) -> None:
    """Write the task FILE and its data beside it; no code is needed (docs/task-without-code.md)."""
    from creval.scaffold.writing import new_task

    files = new_task(file, like)
    for each in files:
        click.echo(visible(str(each)))
    shown = files[0] if files[0].parent != Path() else f"./{files[0]}"
    click.echo(visible(f"\nNow:\n  creval validate {shown} --tests\n  creval --tasks {shown} --model baseline/ceiling"))

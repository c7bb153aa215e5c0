"""`creval new` and `creval registry`: new plugins and tasks, and the entries of published plugins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from creval.plugin.loading import visible

__all__ = ["new", "registry"]


@click.group(no_args_is_help=True, epilog="Example: creval new plugin rhymes")
def new() -> None:
    """Create a working plugin or task to start from."""


@new.command(epilog="Example: creval new plugin rhymes --licence MIT")
@click.argument("name")
@click.option(
    "--folder", type=click.Path(path_type=Path), default=Path(), help="Target folder (default: the current one)."
)
@click.option("--licence", default="MIT", show_default=True, help="MIT, BSD-3-Clause or Apache-2.0.")
@click.option("--author", default="", help="Copyright holder.")
def plugin(name: str, folder: Path, licence: str, author: str) -> None:
    """Create the package creval-NAME: a task, a scorer, three docs, tests, workflow, README, changelog, licence."""
    from creval_testing.new_files import new_plugin, taken_name

    taken = taken_name(name)
    files = new_plugin(name, folder, licence, author)
    home = Path(files[0]).parent
    for file in files:
        click.echo(visible(str(file)))
    if taken is not None:
        click.echo(visible(f"Warning: {taken}"), err=True)
    click.echo(visible(f"\nNow:\n  cd {home}\n  pip install -e '.[test]'\n  pytest\n  creval ls {name}"))


@new.command(epilog="Example: creval new task riddles.yaml --like choices")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--like", default="questions", show_default=True, help="questions, choices, judged or mode_collapse.")
def task(file: Path, like: str) -> None:
    """Create the task FILE with its data next to it; no code is needed (docs/task-without-code.md)."""
    from creval_testing.new_files import new_task

    files = new_task(file, like)
    for each in files:
        click.echo(visible(str(each)))
    shown = files[0] if files[0].parent != Path() else f"./{files[0]}"
    click.echo(visible(f"\nNow:\n  creval validate {shown} --tests\n  creval --tasks {shown} --model baseline/ceiling"))


@click.group(no_args_is_help=True, epilog="Example: creval registry check --help")
def registry() -> None:
    """Published plugins: one file each, which `creval ls --registry` lists."""


@registry.command(epilog="Example: creval registry check association")
@click.argument("plugins", nargs=-1)
@click.option("--entries", type=click.Path(path_type=Path), help="Folder of entries (default: the shipped ones).")
@click.option("--find-links", type=click.Path(path_type=Path), metavar="DIR", help="Folder of wheels to use first.")
@click.option("--shared", is_flag=True, help="Use this environment's third-party packages, without the network.")
@click.pass_context
def check(
    ctx: click.Context, plugins: Sequence[str], entries: Path | None, find_links: Path | None, shared: bool
) -> None:
    """Install each entry's package into an empty environment and check version, licence, tasks, hashes and every rule.

    creval and creval-testing are also installed there, from the index or from DIR; with --shared the wheels of both
    and of the package must be in DIR (pip wheel --no-deps -w DIR FOLDER). The check applies the rules of the
    conformance suite and runs floor and ceiling. The exit code is 1 if there is a problem.
    """
    from creval_testing.check_entry import Source, check_entry
    from creval_testing.registry_entries import SHIPPED, read_entries

    if find_links is not None and not find_links.is_dir():
        raise click.UsageError(f"--find-links: there is no folder {find_links}")
    if shared and find_links is None:
        raise click.UsageError("--shared installs only from wheels, also creval: add --find-links DIR")
    broken = 0
    for entry in read_entries(plugins, entries or SHIPPED):
        for each in check_entry(entry, Source(find_links, shared)):
            broken += bool(each.faults)
            state = "FAULTY" if each.faults else "ok"
            click.echo(visible(f"{entry.plugin} {entry.version}  {each.name}: {state}"))
            for fault in each.faults:
                click.echo(visible(f"    {fault}"))
    if broken:
        ctx.exit(1)

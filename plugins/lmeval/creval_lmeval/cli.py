"""`creval lmeval ...`: folders of the user's tasks, numbers of groups, task files of creval."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from creval.plugin import UsageError

__all__ = ["convert", "groups", "include", "use_folder", "withdraw"]


@click.command(epilog="Example: creval lmeval include ./my_tasks")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def include(folder: Path, yes: bool) -> None:
    """Allow the tasks of FOLDER, as lm-eval's --include_path does, and list them as lmeval/NAME.

    Its Python files run with your rights whenever one of its tasks is used. If a file in it changes, the folder is left
    out until it is included again.
    """
    from creval_lmeval.roots import known

    folder = folder.resolve()
    _allow(folder, yes)
    own = [name for name, each in known().items() if each.file and Path(each.file).is_relative_to(folder)]
    click.echo(f"{len(own)} names: {', '.join(f'lmeval/{name}' for name in sorted(own)[:10])}")


def use_folder(named: str) -> None:
    """Allow a folder for `--include-path` of a run, with a question unless it is trusted as is. Raises UsageError."""
    from creval_lmeval.roots import roots

    folder = Path(named).resolve()
    if not folder.is_dir():
        raise UsageError(f"there is no folder {named!r}", where="--include-path", fix="Name a folder of task files.")
    if not any(root.folder == folder and root.trusted for root in roots()):
        _allow(folder, yes=False)


def _allow(folder: Path, yes: bool) -> None:
    from creval_lmeval.names import need_lm_eval
    from creval_lmeval.roots import include as allow

    need_lm_eval()
    programs = sorted(str(file.relative_to(folder)) for file in folder.rglob("*.py"))
    said = f"{len(programs)} Python files in {folder} run when its tasks are used: {', '.join(programs[:10])}"
    click.echo(said if programs else f"There is no Python file in {folder}.", err=True)
    if programs and not yes and not _agreed():
        fix = f"Look at its files, then: creval lmeval include {shlex.quote(str(folder))} --yes"
        raise UsageError("the folder is not included", where=str(folder), fix=fix)
    root = allow(folder)
    if not root.trusted:
        raise UsageError("the state folder cannot be written, so nothing is allowed", where=str(folder))


def _agreed() -> bool:
    try:
        return click.confirm("Allow them?", err=True)
    except click.Abort:  # there is nobody to ask
        return False


@click.command(epilog="Example: creval lmeval withdraw ./my_tasks")
@click.argument("folder", type=click.Path(path_type=Path))
def withdraw(folder: Path) -> None:
    """Remove FOLDER from the list of included folders."""
    from creval_lmeval.roots import withdraw as take_out

    click.echo("withdrawn" if take_out(folder.resolve()) else "it was not included")


@click.command(epilog="Example: creval lmeval groups runs/my-run")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def groups(run: Path, as_json: bool) -> None:
    """Print the results of lm-eval's groups in RUN, weighted as in lm-eval."""
    from creval.plugin import open_run
    from creval_lmeval.group_numbers import group_numbers

    rows = [each._asdict() for each in group_numbers(open_run(run))]
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    if not rows:
        click.echo("the run has no whole group of lm-eval that joins numbers")
    _print(rows)


def _print(rows: Sequence[dict[str, Any]]) -> None:
    def shown(value: Any) -> str:
        return "-" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)

    cells = [[*rows[0]], *([shown(value) for value in row.values()] for row in rows)] if rows else []
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))] if cells else []
    for row in cells:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@click.command(epilog="Example: creval lmeval convert arc_easy -o arc_easy.yaml")
@click.argument("task")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write the task file here.")
@click.pass_context
def convert(ctx: click.Context, task: str, output: Path | None) -> None:
    """Write TASK of lm-eval as a task file that needs only creval, if it is declarative.

    Parts that cannot be expressed are reported, with exit code 1. Parts that may change the numbers are reported and
    written.
    """
    from creval_lmeval.convert import converted

    found = converted(task.removeprefix("lmeval/"))
    for note in found.notes:
        click.echo(f"note: {note}", err=True)
    for reason in found.reasons:
        click.echo(f"lmeval/{task} has no task file of creval alone: {reason}", err=True)
    if found.text is None:
        ctx.exit(1)
    elif output is None:
        click.echo(found.text, nl=False)
    else:
        output.write_text(found.text, encoding="utf-8")
        click.echo(f"written: {output}")

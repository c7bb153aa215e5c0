"""`--trust RUN|FILE`: what a run folder or run file of somebody else names may act on this machine from now on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["trust_option", "trust_parameter"]

Command = TypeVar("Command", bound=Callable[..., Any])
_HELP = "Trust what this run folder or run file names (addresses, executors, paths), from now on."


def trust_option(command: Command) -> Command:
    """Add the option. What it names is trusted before the command begins."""
    return click.option("--trust", **_AS)(command)


def trust_parameter() -> click.Option:
    """Return the option for a command that is put together from parameters."""
    return click.Option(["--trust"], **_AS)


def _trust(_: click.Context, __: click.Parameter, places: Sequence[str]) -> None:
    if not places:
        return
    from pathlib import Path

    from creval.visible import visible

    for place in places:
        for line in _trusted(Path(place)):
            click.echo(visible(f"trusted: {line}"), err=True)


_AS: Any = {"multiple": True, "metavar": "RUN|FILE", "expose_value": False, "callback": _trust, "help": _HELP}


def _trusted(place: Path) -> list[str]:
    """Trust a file or folder, of a sweep also its runs, and return what was trusted. Raises CrevalError."""
    from creval.engine.run_file import read_run_file
    from creval.errors import UsageError
    from creval.runs.folder import RunFolder
    from creval.runs.opener import is_there
    from creval.runs.trust import Claims

    folders = [place, *sorted(child for child in place.iterdir() if child.is_dir())] if place.is_dir() else []
    runs = [folder for folder in folders if is_there(folder / "run.json")]
    files = [place / name for name in ("run.yaml", "sweep.yaml") if is_there(place / name)] if folders else [place]
    if place.name == "run.json":
        runs, files = [place.parent], []
    if not runs and not files:
        raise UsageError("there is no run here", where=str(place), cure="Name a run folder or a run file: --trust PATH")
    claims = [Claims.of_run(RunFolder.open(folder).read_manifest(), folder) for folder in runs]
    for file in files:
        read = read_run_file(file).claims
        claims += [read] if read is not None else []
    return list(dict.fromkeys(str(named) for claim in claims for named in claim.trust()))

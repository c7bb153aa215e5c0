"""Options that several commands share: --trust, consents, the format of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "format_options",
    "options_of_a_run_again",
    "trust_option",
    "trust_parameter",
]


Command = TypeVar("Command", bound=Callable[..., Any])

_HELP = "Trust what this run folder or run file names (addresses, executors, paths), from now on."


def trust_option(command: Command) -> Command:
    """Add the option. The paths it names are trusted before the command begins."""
    return click.option("--trust", **_AS)(command)


_AGAIN = (
    click.option(
        "--allow-code-execution",
        is_flag=True,
        help="Allow tasks to run model-written code in the sandbox; must be given again.",
    ),
    click.option(
        "--trust-remote-code",
        is_flag=True,
        help="Allow encoders and models to run code from their own repository; must be given again.",
    ),
    click.option("--executor", metavar="E", help="Where samples run, instead of the run's own executor."),
    click.option("--executor-option", multiple=True, metavar="K=V", help="Set an option of that executor."),
)


def options_of_a_run_again(command: Command) -> Command:
    """Add the options that must be given again for a saved run: consents (which runs do not store), executor, trust."""
    command = trust_option(command)
    for option in reversed(_AGAIN):
        command = option(command)
    return command


def trust_parameter() -> click.Option:
    """Return the option for a command that is built from parameters."""
    return click.Option(["--trust"], **_AS)


def _trust(_: click.Context, __: click.Parameter, places: Sequence[str]) -> None:
    if not places:
        return
    from pathlib import Path

    from creval.escape import visible

    for place in places:
        for line in _trusted(Path(place)):
            click.echo(visible(f"trusted: {line}"), err=True)


_AS: Any = {"multiple": True, "metavar": "RUN|FILE", "expose_value": False, "callback": _trust, "help": _HELP}


def _trusted(place: Path) -> list[str]:
    """Trust a file or folder (for a sweep also its runs) and return what was trusted. Raises CrevalError."""
    from creval.cli.lazy_group import import_installed
    from creval.errors import UsageError
    from creval.opener import is_there
    from creval.plugins.distributions import installed_version
    from creval.runs.folder import RunFolder
    from creval.runs.trust import Claims

    folders = [place, *sorted(child for child in place.iterdir() if child.is_dir())] if place.is_dir() else []
    runs = [folder for folder in folders if is_there(folder / "run.json")]
    files = [place / name for name in ("run.yaml", "sweep.yaml") if is_there(place / name)] if folders else [place]
    if place.name == "run.json":
        runs, files = [place.parent], []
    if not runs and not files:
        raise UsageError("there is no run here", where=str(place), fix="Name a run folder or a run file: --trust PATH")
    claims = [Claims.of_run(RunFolder.open(folder).read_manifest(), folder) for folder in runs]
    if files and (place in files or installed_version("creval-sweeps")):
        read = import_installed("creval_sweeps.run_file:read_run_file", "creval-sweeps", "--trust of a run file")
        claims += [read(file).claims for file in files]
    return list(dict.fromkeys(str(named) for claim in claims for named in claim.trust()))


_FORMS = (
    ("json", "Print JSON with all columns."),
    ("csv", "Print CSV with all digits."),
    ("markdown", "Print a Markdown table."),
    ("latex", "Print a LaTeX table (needs \\usepackage{booktabs})."),
)


def format_options(command: Command) -> Command:
    """Add the options to a click command; the chosen one is passed as `form`, else None."""
    for name, about in reversed(_FORMS):
        command = click.option(f"--{name}", "form", flag_value=name, default=None, help=about)(command)
    return command

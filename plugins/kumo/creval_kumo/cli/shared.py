"""Options shared by several commands, and reading and writing of JSON Lines."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from creval.plugin import DataError, UsageError
from creval.plugin.report import write_lines as write_file
from creval_kumo.domains import load_domain
from creval_kumo.domains.domain import Domain
from creval_kumo.games.generation import Settings, counterfactual

__all__ = [
    "Command",
    "OutputFile",
    "check_output",
    "chosen_domain",
    "game_options",
    "json_line",
    "output_option",
    "overwrite_option",
    "read_lines",
    "sizes",
    "write_lines",
]

Command = TypeVar("Command", bound=Callable[..., Any])
MAX_LINE = 4_000_000
MAX_SEED = 2**63 - 1

_GAME = (
    click.option(
        "--domain", default="medical", show_default=True, metavar="D", help="A domain, or a file that ends in .yaml."
    ),
    click.option("--truths", type=int, default=4, show_default=True, help="Truths per game (N_truth)."),
    click.option("--actions", type=int, default=6, show_default=True, help="Actions per game (N_action)."),
    click.option("--valid", type=int, default=1, show_default=True, help="Valid truths per game (N_valid)."),
    click.option(
        "--seed",
        type=click.IntRange(0, MAX_SEED),
        default=0,
        show_default=True,
        help="Seed of the set; a game is named by seed and number.",
    ),
    click.option("--counterfactual", is_flag=True, help="Shuffle the truths' names in all exclusions."),
    click.option(
        "--reliability", type=float, default=1.0, show_default=True, help="Below 1, results are evidence, not certain."
    ),
)


def game_options(command: Command) -> Command:
    """Add the options that select the games."""
    for option in reversed(_GAME):
        command = option(command)
    return command


def overwrite_option(command: Command) -> Command:
    """Add --overwrite."""
    return click.option("--overwrite", is_flag=True, help="Overwrite the file of --output.")(command)


def check_output(output: Path | None, overwrite: bool) -> None:
    """Check that a file can be written before anything is paid for it.

    Raises UsageError if it exists (unless `overwrite`), or if its folder is not writable.
    """
    if output is None:
        return
    if output.is_file() and not overwrite:
        fix = "Choose another --output, or add --overwrite."
        raise UsageError("the file already exists", where=str(output), fix=fix)
    folder = next(parent for parent in output.absolute().parents if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        fix = "Choose another --output."
        raise UsageError(f"cannot be written: {error.strerror}", where=str(output), fix=fix) from error


class OutputFile(click.Path):
    """A file to write. Refuses an empty path, which would mean the current folder."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and not value.strip():
            self.fail("the name of a file cannot be empty", param, ctx)
        return super().convert(value, param, ctx)


def output_option(help_text: str) -> Callable[[Command], Command]:
    """Add --output."""
    return click.option("--output", "-o", type=OutputFile(), metavar="FILE", help=help_text)


def chosen_domain(given: Mapping[str, Any]) -> Domain:
    """Return the domain that the options of `game_options` name."""
    domain = load_domain(given["domain"])
    return counterfactual(domain, given["seed"]) if given["counterfactual"] else domain


def sizes(given: Mapping[str, Any]) -> Settings:
    """Return the sizes that the options of `game_options` name."""
    return Settings(given["truths"], given["actions"], given["valid"], given["reliability"])


def json_line(row: Mapping[str, Any]) -> str:
    """Return a row as one line."""
    return json.dumps(row, ensure_ascii=False) + "\n"


def write_lines(output: Path | None, lines: Iterable[str]) -> int:
    """Write lines to a file (see `creval.plugin`) or to the terminal; return how many. Raises UsageError."""
    if output is not None:
        return write_file(output, lines)
    count = 0
    for line in lines:
        click.echo(line, nl=False)
        count += 1
    return count


def read_lines(file: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSON Lines file. Raises DataError with the number of an invalid line."""
    rows = []
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if len(line) > MAX_LINE:
                    raise DataError(f"a line of more than {MAX_LINE} characters", where=f"{file}:{number}")
                if not line.strip():
                    continue
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise DataError("expected an object", where=f"{file}:{number}")
                rows.append(row)
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise DataError(f"the file cannot be read: {error}", where=str(file)) from error
    return rows

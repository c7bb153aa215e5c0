"""Options that several commands have, and writing of JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from creval.plugin import DataError
from creval.plugin import write_lines as write_file
from creval_kumo.domains import load_domain
from creval_kumo.domains.domain import Domain
from creval_kumo.games.generation import Settings, counterfactual

__all__ = [
    "Command",
    "chosen_domain",
    "game_options",
    "json_line",
    "output_option",
    "read_lines",
    "sizes",
    "write_lines",
]

Command = TypeVar("Command", bound=Callable[..., Any])
MAX_LINE = 4_000_000

_GAME = (
    click.option(
        "--domain", default="medical", show_default=True, metavar="D", help="A domain, or a file that ends in .yaml."
    ),
    click.option("--truths", type=int, default=4, show_default=True, help="Truths a game (N_truth)."),
    click.option("--actions", type=int, default=6, show_default=True, help="Actions a game (N_action)."),
    click.option("--valid", type=int, default=1, show_default=True, help="Valid truths a game (N_valid)."),
    click.option("--seed", type=int, default=0, show_default=True, help="Which task set; a game has it and a number."),
    click.option("--counterfactual", is_flag=True, help="Shuffle the truths' names in all exclusions."),
    click.option(
        "--reliability", type=float, default=1.0, show_default=True, help="Below 1: results are evidence, not certain."
    ),
)


def game_options(command: Command) -> Command:
    """Add the options that say which games."""
    for option in reversed(_GAME):
        command = option(command)
    return command


def output_option(help_text: str) -> Callable[[Command], Command]:
    """Add --output."""
    return click.option(
        "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help=help_text
    )


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
    """Return the rows of a file of JSON Lines. Raises DataError with the line that is none."""
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

"""`creval kumo generate`: fresh games with their knowledge books."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import click

from creval.plugin import counted
from creval_kumo.cli.shared import (
    check_output,
    chosen_domain,
    game_options,
    json_line,
    output_option,
    overwrite_option,
    sizes,
    write_lines,
)

__all__ = ["generate"]

_TASK = "kumo_probabilistic"


@click.command(
    short_help="Make fresh games.",
    epilog="Example: creval kumo generate --domain medical --truths 12 --actions 16 --count 2 --seed 7",
)
@game_options
@click.option("--count", type=click.IntRange(min=1), default=50, show_default=True, help="Number of games.")
@output_option("JSON Lines; without it they are printed. Play it: creval --tasks kumo --data kumo=FILE --model M")
@overwrite_option
def generate(output: Path | None, overwrite: bool, count: int, **given: Any) -> None:
    """Generate games from a domain: the same bytes from the same seed on every machine.

    The observations of each game leave exactly the valid truths. No two games of a set are equal. With --reliability
    below 1 results are evidence only, drawn at random; play such games with kumo_probabilistic.
    """
    from creval_kumo.games.generation import generate as games
    from creval_kumo.task.datasets import game_doc

    check_output(output, overwrite)
    domain = chosen_domain(given)
    made = itertools.islice(games(domain, sizes(given), given["seed"]), count)
    written = write_lines(output, (json_line(game_doc(game, domain)) for game in made))
    if output is not None:
        click.echo(f"{counted(written, 'games')} written to {output}", err=True)
        if given["reliability"] < 1:
            click.echo(f"Play them: creval --tasks {_TASK} --data {_TASK}={output} --model M", err=True)

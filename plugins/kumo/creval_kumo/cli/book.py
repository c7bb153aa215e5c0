"""`creval kumo book`: knowledge books of games, by template or by a model (stage d), and their check."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from creval.plugin import BudgetError, CrevalError, DataError, UsageError, counted
from creval_kumo.cli.augmenter import augmenter_options, with_augmenter
from creval_kumo.cli.shared import check_output, json_line, output_option, overwrite_option, read_lines, write_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from creval_kumo.augment.asking import Augmenter
    from creval_kumo.augment.book_writing import WrittenBook
    from creval_kumo.domains.domain import Domain
    from creval_kumo.games.instance import Instance

    Game = tuple[dict[str, Any], Instance, Domain]

__all__ = ["book"]

AT_ONCE = 8


@click.command(
    short_help="Write the guidebooks of games again, or check them.",
    epilog="Example: creval kumo book games.jsonl --augmenter openai/gpt-4o -o with_books.jsonl",
)
@click.argument("games", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--check", is_flag=True, help="Only check the books of the games; exit code 1 if one is faulty.")
@augmenter_options(required=False)
@click.option("--rounds", type=click.IntRange(min=0), default=3, show_default=True, help="Maximum revisions per book.")
@output_option("JSON Lines of the games with the new books; without it they are printed.")
@overwrite_option
def book(games: Path, check: bool, rounds: int, output: Path | None, overwrite: bool, **given: Any) -> None:
    """Write the books of GAMES (a file of `creval kumo generate`) again: by template, or by a model.

    The model and a check that knows every fact of the game look for errors in a model's book, and the model revises
    it until there are none. If a book fails, its game is left out and reported, and the exit code is 1.
    """
    rows = [_game(row, f"{games}:{number}") for number, row in enumerate(read_lines(games), start=1)]
    if check:
        click.get_current_context().exit(_check(rows))
    check_output(output, overwrite)
    texts: list[str | None]
    if given["augmenter"] is None:
        from creval_kumo.books.book import write_book

        texts = [write_book(instance, domain) for _, instance, domain in rows]
    else:
        texts = _by_model(rows, rounds, given)
    books = [(row, text) for (row, _, _), text in zip(rows, texts, strict=True) if text is not None]
    count = write_lines(output, (json_line({**row, "book": text}) for row, text in books))
    if output is not None:
        click.echo(f"{counted(count, 'games')} written to {output}", err=True)
    if count < len(rows):
        click.get_current_context().exit(1)


def _by_model(games: Sequence[Game], rounds: int, given: dict[str, Any]) -> list[str | None]:
    """Return the model's books, None for each that failed; the reason is printed. Raises if all failed."""
    written = _written(games, rounds, given)
    failures = [(row, each) for (row, _, _), each in zip(games, written, strict=True) if isinstance(each, CrevalError)]
    if len(failures) == len(games):
        raise failures[0][1]
    for row, error in failures:
        click.echo(f"{row.get('id', 'a game')}: left out: {error}", err=True)
    books = [None if isinstance(each, CrevalError) else each for each in written]
    revisions = sum(each.revisions for each in books if each is not None)
    click.echo(f"{len(books) - len(failures)} books, {revisions} revisions", err=True)
    return [None if each is None else each.text for each in books]


def _game(row: dict[str, Any], where: str) -> Game:
    from creval_kumo.domains.domain import Domain, Noun, Truth
    from creval_kumo.games.instance import Instance

    try:
        instance = Instance.from_doc(row)
        nouns = Noun(**row["truth_noun"]), Noun(**row["action_noun"])
        truths = tuple(Truth(name, str(row["about"][name])) for name in instance.truths)
        domain = Domain(instance.domain, str(row["title"]), str(row["goal"]), *nouns, truths, ())
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"not a game of creval kumo generate: {error!r}", where=where) from error
    return row, instance, domain


def _check(games: Sequence[Game]) -> int:
    from creval_kumo.books.book_check import book_faults

    bad = 0
    for row, instance, _ in games:
        faults = book_faults(instance.book, instance)
        bad += bool(faults)
        for fault in faults:
            click.echo(f"{row.get('id', instance.seed)}: {fault}")
    click.echo(f"{len(games)} books, {bad} with faults", err=True)
    return 1 if bad else 0


def _written(games: Sequence[Game], rounds: int, given: dict[str, Any]) -> list[WrittenBook | CrevalError]:
    from creval_kumo.augment.book_writing import write_book_by_model

    async def work(augmenter: Callable[[str], Augmenter]) -> list[WrittenBook | CrevalError]:
        places = asyncio.Semaphore(AT_ONCE)

        hopeless: list[CrevalError] = []  # an error that every further call would raise too

        async def one(instance: Instance, domain: Domain) -> WrittenBook | CrevalError:
            async with places:
                if hopeless:
                    return hopeless[0]
                subject = f"{instance.domain}-{instance.seed}"
                try:
                    return await write_book_by_model(augmenter(subject), instance, domain, rounds)
                except CrevalError as error:  # keep the books already paid for
                    if isinstance(error, BudgetError | UsageError) or getattr(error, "every_call", False):
                        hopeless.append(error)
                    return error

        return list(await asyncio.gather(*(one(instance, domain) for _, instance, domain in games)))

    return with_augmenter(given, work)

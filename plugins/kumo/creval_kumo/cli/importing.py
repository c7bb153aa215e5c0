"""`creval kumo import`: the authors' published instances in the form that the tasks read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from creval_kumo.cli.shared import json_line, output_option, write_lines

__all__ = ["import_published"]

SIZES = {"easy": (4, 6), "hard": (12, 16)}


@click.command(
    "import",
    short_help="Convert the authors' published games.",
    epilog="Example: creval kumo import kumo/ --domain MedicalEnv --difficulty hard -o medical.jsonl",
)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--domain", "names", multiple=True, metavar="D", help="A published domain; may be repeated. Default: all."
)
@click.option("--difficulty", type=click.Choice(list(SIZES)), default="easy", show_default=True)
@click.option("--skip-faulty", is_flag=True, help="Leave out faulty games instead of refusing the domain.")
@output_option("JSON Lines; without it they are printed. Play it: creval --tasks kumo --data kumo=FILE --model M")
def import_published(
    folder: Path, names: tuple[str, ...], difficulty: str, skip_faulty: bool, output: Path | None
) -> None:
    """Convert published instances, with their knowledge books, of all domains or those named.

    FOLDER is a clone of the authors' repository:

    \b
      git clone https://github.com/linhaowei1/kumo
      git -C kumo checkout 8919ff0075c81e10970e80275d6f241ce91124e3

    None of its code is run. Games whose observations do not single out the valid truth, and other faults of the
    published data, are refused by name.
    """
    from creval_kumo.authors_files import AuthorsFiles

    files = AuthorsFiles(folder)
    chosen = list(names) or sorted(files.domains())
    skipped: list[str] = []
    rows = (row for name in chosen for row in _docs(files, name, SIZES[difficulty], skipped if skip_faulty else None))
    written = write_lines(output, map(json_line, rows))
    for line in skipped:
        click.echo(f"left out: {line}", err=True)
    if output is not None:
        click.echo(f"{written} games written to {output}, {len(skipped)} left out", err=True)


def _docs(files: Any, name: str, sizes: tuple[int, int], skipped: list[str] | None) -> Iterator[dict[str, Any]]:
    from creval_kumo.datasets import game_doc
    from creval_kumo.faults import DomainError
    from creval_kumo.published import to_domain, to_instance

    published = to_domain(files.configuration(name), name)
    if skipped is None and published.faults:
        raise DomainError(published.faults, where=name, cure="Keep its sound games only: --skip-faulty")
    for row in files.instances(name, *sizes):
        instance, faults = to_instance(row, published, f"{name}, seed {row['seed']}")
        if not faults:
            yield game_doc(instance, published.domain)
        elif skipped is None:
            raise DomainError(faults, where=f"{name}, seed {row['seed']}", cure="Leave such games out: --skip-faulty")
        else:
            skipped.append(f"{name}, seed {row['seed']}: {'; '.join(str(fault) for fault in faults)}")

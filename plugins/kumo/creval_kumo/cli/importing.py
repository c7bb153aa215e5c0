"""`creval kumo import`: the authors' published instances in the form that the tasks read."""

from __future__ import annotations

from pathlib import Path

import click

from creval_kumo.cli.shared import json_line, output_option, write_lines
from creval_kumo.published_files import SIZES

__all__ = ["import_published"]


@click.command(
    "import",
    short_help="Convert the authors' published games.",
    epilog="Example: creval kumo import kumo/ --domain MedicalEnv --difficulty hard -o medical.jsonl",
)
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--domain", "names", multiple=True, metavar="D", help="A published domain; may be repeated. Default: all."
)
@click.option("--difficulty", type=click.Choice(list(SIZES)), default="easy", show_default=True)
@click.option("--skip-faulty", is_flag=True, help="Leave out faulty games instead of refusing the domain.")
@click.option("--offline", is_flag=True, help="Without FOLDER: take the files from the cache only.")
@output_option("JSON Lines; without it they are printed. Play it: creval --tasks kumo --data kumo=FILE --model M")
def import_published(
    folder: Path | None, names: tuple[str, ...], difficulty: str, skip_faulty: bool, offline: bool, output: Path | None
) -> None:
    """Convert published instances, with their knowledge books, of all domains or those named.

    FOLDER is a clone of the authors' repository at the commit that the paper's games come from:

    \b
      git clone https://github.com/linhaowei1/kumo
      git -C kumo checkout 8919ff0075c81e10970e80275d6f241ce91124e3

    Without FOLDER the files of that commit are fetched from GitHub, each checked by its sha256, and kept in the cache.
    None of the code is run. Games whose observations do not single out the valid truth, and other faults of the
    published data, are refused by name.
    """
    from creval.data.options import DataOptions
    from creval_kumo.authors_files import AuthorsFiles
    from creval_kumo.published_files import PublishedFiles
    from creval_kumo.published_source import cache_of, published_docs

    if folder is None:
        pinned = PublishedFiles(cache_of(DataOptions.from_environment()), offline=offline)
        chosen = pinned.names(names or "all", difficulty)
        files = pinned.fetch(chosen, difficulty)
    else:
        files = AuthorsFiles(folder)
        chosen = list(names) or sorted(files.domains())
    skipped: list[str] = []
    kept = skipped if skip_faulty else None
    rows = (row for name in chosen for row in published_docs(files, name, difficulty, kept))
    written = write_lines(output, map(json_line, rows))
    for line in skipped:
        click.echo(f"left out: {line}", err=True)
    if output is not None:
        click.echo(f"{written} games written to {output}, {len(skipped)} left out", err=True)

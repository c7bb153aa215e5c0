"""`creval kumo import` and `import-domains`: convert the authors' published files to formats that creval reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from creval.plugin import counted
from creval_kumo.cli.shared import Command, json_line, output_option, write_lines

if TYPE_CHECKING:
    from creval_kumo.published.authors_files import AuthorsFiles

__all__ = ["import_domains", "import_published"]

_SOURCE = (
    click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path)),
    click.option(
        "--domain", "names", multiple=True, metavar="D", help="A published domain; may be repeated. Default: all."
    ),
    click.option("--offline", is_flag=True, help="Without FOLDER: use only cached files."),
)


def _from_authors(command: Command) -> Command:
    """Add the options that select the authors' files and their location."""
    for option in reversed(_SOURCE):
        command = option(command)
    return command


def _authors(given: dict[str, Any], difficulty: str | None) -> tuple[AuthorsFiles, Sequence[str]]:
    """Return the authors' files (from a clone, or the pinned ones) and the names of the chosen domains."""
    from creval.plugin.data import DataOptions
    from creval_kumo.published.authors_files import AuthorsFiles
    from creval_kumo.published.published_files import PublishedFiles
    from creval_kumo.published.source import cache_of

    names = list(dict.fromkeys(given["names"]))
    if given["folder"] is not None:
        files = AuthorsFiles(given["folder"])
        return files, names or _all_with_games(files, difficulty)
    pinned = PublishedFiles(cache_of(DataOptions.from_environment()), offline=given["offline"])
    chosen = pinned.names(names or "all", difficulty)
    return pinned.fetch(chosen, difficulty), chosen


def _all_with_games(files: AuthorsFiles, difficulty: str | None) -> list[str]:
    """Return all domains, or those with games of a difficulty: only five have hard ones."""
    from creval_kumo.published.published_files import SIZES

    names = sorted(files.domains())
    if difficulty is None:
        return names
    return [name for name in names if (files.folder / files.places(name, *SIZES[difficulty])[0]).is_file()]


@click.command(
    "import",
    short_help="Convert the authors' published games.",
    epilog="Example: creval kumo import kumo/ --domain MedicalEnv --difficulty hard -o medical.jsonl",
)
@_from_authors
@click.option("--difficulty", type=click.Choice(["easy", "hard"]), default="easy", show_default=True)
@click.option("--skip-faulty", is_flag=True, help="Leave out faulty games instead of refusing the domain.")
@output_option("JSON Lines; without it they are printed. Play it: creval --tasks kumo --data kumo=FILE --model M")
def import_published(difficulty: str, skip_faulty: bool, output: Path | None, **given: Any) -> None:
    """Convert the published instances and knowledge books of all domains, or of the named ones.

    FOLDER is a clone of the authors' repository at the commit that the paper's games come from:

    \b
      git clone https://github.com/linhaowei1/kumo
      git -C kumo checkout 8919ff0075c81e10970e80275d6f241ce91124e3

    Without FOLDER creval downloads the files of that commit from GitHub, checks each by its sha256, and keeps them
    in the cache. It runs none of the code. It refuses games whose observations do not determine the valid truth, and
    other faults of the published data, by name.
    """
    from creval_kumo.published.source import published_docs

    files, chosen = _authors(given, difficulty)
    skipped: list[str] = []
    kept = skipped if skip_faulty else None
    rows = (row for name in chosen for row in published_docs(files, name, difficulty, kept))
    written = write_lines(output, map(json_line, rows))
    for line in skipped:
        click.echo(f"left out: {line}", err=True)
    if output is not None:
        click.echo(f"{counted(written, 'games')} written to {output}, {len(skipped)} left out", err=True)


@click.command(
    "import-domains",
    short_help="Convert the authors' published domains to domain files.",
    epilog="Example: creval kumo import-domains kumo/ --domain MedicalEnv -o domains",
)
@_from_authors
@click.option("--skip-faulty", is_flag=True, help="Leave out faulty domains instead of refusing them.")
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    required=True,
    help="Output folder.",
)
def import_domains(skip_faulty: bool, output: Path, **given: Any) -> None:
    """Write the configurations of published domains as domain files, for fresh games and for analyses.

    FOLDER is a clone of the authors' repository; without it creval downloads their pinned files (see creval kumo
    import). It refuses faulty domains by name: overlapping ranges, wrong types, truths that are never or always
    excluded, names that differ only in letter case.
    """
    from creval_kumo.domains.domain_text import domain_yaml
    from creval_kumo.domains.faults import DomainError
    from creval_kumo.domains.rules import FILE_RULES, find_faults
    from creval_kumo.published.published_domains import to_domain

    files, chosen = _authors(given, None)
    written = 0
    for name in chosen:
        published = to_domain(files.configuration(name), name)
        faults = published.faults or find_faults(published.domain, FILE_RULES)
        if not faults:
            write_lines(output / f"{name}.yaml", [domain_yaml(published.domain)])
            written += 1
        elif skip_faulty:
            click.echo(f"left out: {name}: {'; '.join(map(str, faults))}", err=True)
        else:
            raise DomainError(faults, where=name, fix="Leave faulty domains out: --skip-faulty")
    click.echo(f"{written} domains written to {output}, {len(chosen) - written} left out", err=True)

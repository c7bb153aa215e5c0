"""`creval ls`: which tasks and suites there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from creval.names import nearest
from creval.visible import json_text, visible

if TYPE_CHECKING:
    from creval.tasks.yaml.headers import TaskHeader

Row = tuple[str, str, str, str, str, str]
"""Name, version, kind, plugin, number of variants, title."""

__all__ = ["ls"]


@click.command(epilog="Example: creval ls kumo --all")
@click.argument("words", nargs=-1)
@click.option("--all", "every", is_flag=True, help="List each variant of a family, too.")
@click.option("--registry", is_flag=True, help="List published plugins, installed or not.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: one object a task, variants included.")
def ls(words: Sequence[str], every: bool, registry: bool, as_json: bool) -> None:
    """List tasks and suites; WORDS keep those whose name, plugin, title or measure contains one of them.

    A family, which is a file of several tasks, is one row; its variants are listed by --all, or where a word fits them
    and not the family.
    """
    if registry:
        _list_registry(words, as_json)
        return
    from creval.plugins.loader import load_plugins
    from creval.tasks.index import TaskIndex

    plugins = load_plugins()
    index = TaskIndex(plugins)
    headers = [header for header in index.headers() if _matches(header, words)]
    for problem in index.problems():
        click.echo(visible(" ".join(str(problem).split())), err=True)
    for failure in plugins.failures:
        click.echo(f"plugin {failure.name} could not be loaded: see creval plugins", err=True)
    if as_json:
        click.echo(json_text([_record(header) for header in headers]))
        return
    rows = [_row(header) for header in headers] if every else _family_rows(headers)
    head = ("NAME", "VERSION", "KIND", "PLUGIN", "VARIANTS", "TITLE")
    with_variants = any(row[4] for row in rows)
    _print_columns(*([row if with_variants else (*row[:4], row[5]) for row in part] for part in ([head], rows)))
    if not rows and words:
        near = nearest(words[0], {name for header in index.headers() for name in (header.name, header.plugin)})
        guess = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        click.echo(visible(f"No task matches {' '.join(words)!r}.{guess} All tasks: creval ls --all"))
    elif not rows:
        click.echo("There are none: no plugin brings any (see creval plugins)")


def _list_registry(words: Sequence[str], as_json: bool) -> None:
    """List the entries of published plugins, each with the version that is installed here."""
    from creval.catalogue.registry_entries import RegistryEntry, read_entries
    from creval.plugins.distributions import installed_version

    def fits(entry: RegistryEntry) -> bool:
        text = " ".join((entry.plugin, entry.package, entry.title, *entry.tasks)).lower()
        return not words or any(word.lower() in text for word in words)

    entries = [(entry, installed_version(entry.package)) for entry in read_entries() if fits(entry)]
    if as_json:
        records = [
            {
                "plugin": entry.plugin,
                "package": entry.package,
                "version": entry.version,
                "installed": installed,
                "licence": entry.licence,
                "repository": entry.repository,
                "commit": entry.commit,
                "title": entry.title,
                "tasks": {name: dict(task) for name, task in entry.tasks.items()},
            }
            for entry, installed in entries
        ]
        click.echo(json_text(records))
        return
    head = ("PLUGIN", "PACKAGE", "VERSION", "INSTALLED", "TASKS", "LICENCE", "TITLE")
    rows = [
        (each.plugin, each.package, each.version, here or "-", str(len(each.tasks)), each.licence, each.title)
        for each, here in entries
    ]
    _print_columns([head], rows)


def _row(header: TaskHeader, variants: str = "") -> Row:
    return header.name, header.version, header.kind, header.plugin, variants, header.title


def _family_rows(headers: Sequence[TaskHeader]) -> list[Row]:
    """Return a row for each task, suite and family; variants have their own where not all of the family is listed."""
    listed = Counter(header.file for header in headers if header.variant is not None)
    shown = {header.file for header in headers if header.family is not None and header.variant is None}
    rows = []
    for header in headers:
        family = header.family
        if family is None or (header.variant is not None and header.file not in shown and family.whole):
            rows.append(_row(header))
        elif header.variant is None:
            rows.append(_row(header, _count(family.size)))
        elif header.file in shown:
            continue
        elif listed[header.file] < family.size:
            rows.append(_row(header))
        else:  # a family that is no task itself stands where the first of its variants would
            shown.add(header.file)
            rows.append((family.name, family.version, "family", header.plugin, _count(family.size), family.title))
    return rows


def _count(variants: int) -> str:
    return f"{variants} variant{'s' if variants > 1 else ''}"


def _matches(header: TaskHeader, words: Sequence[str]) -> bool:
    text = " ".join((header.name, header.plugin, header.title, *header.measures)).lower()
    return not words or any(word.lower() in text for word in words)


def _record(header: TaskHeader) -> dict[str, object]:
    return {
        "name": header.name,
        "plugin": header.plugin,
        "version": header.version,
        "kind": header.kind,
        "title": header.title,
        "measures": list(header.measures),
        "source": header.source,
        "file": str(header.file),
    }


def _print_columns(head: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in (*head, *rows)) for column in range(len(head[0]))]
    for row in (*head, *rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(visible(line).rstrip())

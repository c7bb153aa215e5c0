"""`creval ls --registry`: published plugins."""

from __future__ import annotations

from collections.abc import Sequence

import click

from creval.plugin.loading import installed_version, json_text, visible
from creval_testing.registry_entries import RegistryEntry, read_entries

__all__ = ["list_registry"]


def list_registry(words: Sequence[str], as_json: bool) -> None:
    """List the entries of published plugins, each with the version that is installed here."""

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
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        click.echo(visible("  ".join(map(str.ljust, row, widths)).rstrip()))

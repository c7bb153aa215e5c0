"""`creval ls`: which tasks and suites there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from creval.report.visible import visible

if TYPE_CHECKING:
    from creval.tasks.yaml.headers import TaskHeader

__all__ = ["ls"]


@click.command(epilog="Example: creval ls --json")
@click.argument("words", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: one object a task.")
def ls(words: Sequence[str], as_json: bool) -> None:
    """List tasks and suites; WORDS keep those whose name, plugin, title or measure contains one of them."""
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
        click.echo(json.dumps([_record(header) for header in headers], indent=2, ensure_ascii=False))
        return
    rows = [(h.name, h.version, h.kind, h.plugin, h.title) for h in headers]
    _print_columns(("NAME", "VERSION", "KIND", "PLUGIN", "TITLE"), rows)
    if not rows:
        click.echo("No task matches." if words else "There are none: no plugin brings any (see creval plugins)")


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


def _print_columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, *rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(visible(line).rstrip())

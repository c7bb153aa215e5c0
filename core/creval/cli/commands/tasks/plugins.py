"""`creval plugins`: what is installed, what it brings, and what failed to load."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from creval.cli.signature import signature
from creval.visible import visible

if TYPE_CHECKING:
    from creval.plugins.loader import Plugins
    from creval.plugins.registry import Component

__all__ = ["plugins"]


@click.command(epilog="Example: creval plugins --components")
@click.option("--components", is_flag=True, help="List every component with its kind, summary and parameters.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plugins(components: bool, as_json: bool) -> None:
    """List plugins with version, tasks, commands and components, and those that failed with the cause."""
    from creval.plugins.loader import load_plugins

    loaded = load_plugins()
    records = _records(loaded)
    failures = [{"name": f.name, "distribution": f.distribution, "error": f.error} for f in loaded.failures]
    if as_json:
        click.echo(json.dumps({"plugins": records, "failures": failures}, indent=2))
        return
    every = loaded.registry.all()
    for record in records:
        _show(record, [c for c in every if c.plugin == record["name"]] if components else [])
    for failure in failures:
        click.echo(visible(f"{failure['name']} ({failure['distribution']}): FAILED: {failure['error']}"))


def _records(loaded: Plugins) -> list[dict[str, Any]]:
    from creval.tasks.index import TaskIndex

    headers = TaskIndex(loaded).headers()
    every = loaded.registry.all()
    return [
        {
            "name": info.name,
            "version": info.version,
            "distribution": info.distribution,
            "tasks": [h.name for h in headers if h.plugin == info.name and h.kind == "task"],
            "suites": [h.name for h in headers if h.plugin == info.name and h.kind == "suite"],
            "commands": [f"creval {info.name} {name}" for name in sorted(loaded.commands.get(info.name, ()))],
            "components": [f"{c.kind} {c.name}" for c in every if c.plugin == info.name],
            "observes": info.name in loaded.hooks.observers,
        }
        for info in loaded.infos
    ]


def _show(record: Mapping[str, Any], components: Sequence[Component]) -> None:
    parts = ("task", "suite", "command", "component")
    counted = [_count(len(record[f"{part}s"]), part) for part in parts if record[f"{part}s"]]
    counts = ", ".join([*counted, *(["observes runs"] if record["observes"] else [])])
    click.echo(visible(f"{record['name']} {record['version']} ({record['distribution']}): {counts or 'nothing'}"))
    for part in ("tasks", "suites", "commands"):
        if record[part]:
            click.echo(visible(f"  {part}: {', '.join(record[part])}"))
    for component in components:
        click.echo(visible(f"  {component.kind:12}{component.name:24}{component.summary}".rstrip()))
        for line in signature(component):
            click.echo(visible(f"  {'':12}  {line}"))


def _count(number: int, part: str) -> str:
    return f"{number} {part}" if number == 1 else f"{number} {part}s"

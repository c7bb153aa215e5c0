"""`creval plugins`: what is installed, what it brings, and what failed to load."""

from __future__ import annotations

import json

import click

from creval.report.visible import visible

__all__ = ["plugins"]


@click.command(epilog="Example: creval plugins --components")
@click.option("--components", is_flag=True, help="List every component with its kind and summary.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plugins(components: bool, as_json: bool) -> None:
    """List plugins with version, tasks and components, and those that failed with the cause."""
    from creval.plugins.loader import load_plugins
    from creval.tasks.index import TaskIndex

    loaded = load_plugins()
    tasks: dict[str, list[str]] = {}
    for header in TaskIndex(loaded).headers():
        tasks.setdefault(header.plugin, []).append(header.name)
    every = loaded.registry.all()
    records = [
        {
            "name": info.name,
            "version": info.version,
            "distribution": info.distribution,
            "tasks": tasks.get(info.name, []),
            "components": [f"{c.kind} {c.name}" for c in every if c.plugin == info.name],
        }
        for info in loaded.infos
    ]
    failures = [{"name": f.name, "distribution": f.distribution, "error": f.error} for f in loaded.failures]
    if as_json:
        click.echo(json.dumps({"plugins": records, "failures": failures}, indent=2))
        return
    for record in records:
        click.echo(
            f"{record['name']} {record['version']} ({record['distribution']}): "
            f"{len(record['tasks'])} tasks, {len(record['components'])} components"
        )
        if record["tasks"]:
            click.echo(f"  tasks: {', '.join(record['tasks'])}")
        if components:
            for component in every:
                if component.plugin == record["name"]:
                    click.echo(f"  {component.kind:12}{component.name:24}{component.summary}")
    for failure in failures:
        click.echo(visible(f"{failure['name']} ({failure['distribution']}): FAILED: {failure['error']}"))

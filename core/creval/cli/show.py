"""`creval show`: one task, whole."""

from __future__ import annotations

import click
import yaml

from creval.report.visible import visible

__all__ = ["show"]


@click.command(epilog="Example: creval show drat --resolved")
@click.argument("task")
@click.option(
    "--resolved", is_flag=True, help="Print the task with all includes merged, and where each value came from."
)
def show(task: str, resolved: bool) -> None:
    """Show TASK (a name, plugin/name or path): its description, or with --resolved its whole YAML."""
    from creval.plugins.loader import load_plugins
    from creval.tasks.index import TaskIndex

    found = TaskIndex(load_plugins()).load(task)
    if resolved:
        click.echo(yaml.safe_dump(dict(found.resolved), sort_keys=False, allow_unicode=True, width=100), nl=False)
        click.echo("# where each value came from")
        for path, origin in found.origins.items():
            click.echo(visible(f"#   {path}: {origin}"))
        return
    click.echo(visible(f"{found.qualified} {found.version}: {found.title}"))
    if found.description:
        click.echo(visible(f"\n{found.description.strip()}\n"))
    facts = {
        "plugin": f"{found.plugin} {found.plugin_version}",
        "file": str(found.file),
        "hash": found.hash,
        "paper": " ".join(part for part in (found.source.paper, found.source.section) if part),
        "measures": ", ".join(found.measures),
        "data": f"{found.dataset.source} {dict(found.dataset.parameters)}",
        "protocol": found.protocol.name,
        "conditions": ", ".join(condition.name for condition in found.conditions),
        "repeats": str(found.repeats),
        "resources": ", ".join(f"{name}={spec}" for name, spec in found.resources.items()),
        "roles": ", ".join(found.roles),
        "metrics": ", ".join(metric.name for metric in found.metrics),
        "baselines": ", ".join(f"{name}: {ref.name}" for name, ref in found.baselines.items()),
    }
    for name, value in facts.items():
        if value:
            click.echo(visible(f"{name + ':':12}{value}"))

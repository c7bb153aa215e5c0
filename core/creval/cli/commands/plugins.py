"""`creval plugins`: what is installed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from creval.escape import visible
from creval.format import counted

if TYPE_CHECKING:
    from creval.plugins.loader import Plugins
    from creval.plugins.registry import Component

__all__ = ["plugins", "signature"]


@click.command(epilog="Example: creval plugins --components")
@click.option("--components", is_flag=True, help="List every component with its kind, summary and parameters.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plugins(components: bool, as_json: bool) -> None:
    """List plugins with version, tasks, commands and components, and failed ones with the cause."""
    from creval.plugins.loader import load_plugins

    installed = load_plugins()
    records = _records(installed)
    failures = [{"name": f.name, "distribution": f.distribution, "error": f.error} for f in installed.failures]
    if as_json:
        click.echo(json.dumps({"plugins": records, "failures": failures}, indent=2))
        return
    every = installed.registry.all()
    for record in records:
        _show(record, [c for c in every if c.plugin == record["name"]] if components else [])
    for failure in failures:
        click.echo(visible(f"{failure['name']} ({failure['distribution']}): FAILED: {failure['error']}"))


def _records(installed: Plugins) -> list[dict[str, Any]]:
    from creval.tasks.index import TaskIndex

    headers = TaskIndex(installed).headers()
    every = installed.registry.all()
    return [
        {
            "name": info.name,
            "version": info.version,
            "distribution": info.distribution,
            "tasks": [h.name for h in headers if h.plugin == info.name and h.kind == "task"],
            "suites": [h.name for h in headers if h.plugin == info.name and h.kind == "suite"],
            "commands": [f"creval {info.name} {name}" for name in sorted(installed.commands.get(info.name, ()))],
            "components": [f"{c.kind} {c.name}" for c in every if c.plugin == info.name],
            "observes": info.name in installed.hooks.observers,
        }
        for info in installed.infos
    ]


def _show(record: Mapping[str, Any], components: Sequence[Component]) -> None:
    counted_kinds = ("task", "suite", "command", "component")
    stated = [counted(len(record[f"{part}s"]), f"{part}s") for part in counted_kinds if record[f"{part}s"]]
    counts = ", ".join([*stated, *(["observes runs"] if record["observes"] else [])])
    click.echo(visible(f"{record['name']} {record['version']} ({record['distribution']}): {counts or 'nothing'}"))
    for part in ("tasks", "suites", "commands"):
        if record[part]:
            click.echo(visible(f"  {part}: {', '.join(record[part])}"))
    for component in components:
        click.echo(visible(f"  {component.kind:12}{component.name:24}{component.summary}".rstrip()))
        for line in signature(component):
            click.echo(visible(f"  {'':12}  {line}"))


_STATED = {
    "produces": "produces the scores",
    "uses": "uses the resources",
    "roles": "calls the roles",
    "prompts": "needs the prompts",
    "provides": "adds to prompts the names",
}

_LIMITS = (("minimum", ">="), ("exclusiveMinimum", ">"), ("maximum", "<="), ("exclusiveMaximum", "<"))


def signature(component: Component) -> Iterator[str]:
    """Yield a line per parameter (`name: type`), then what the component produces, uses, asks and provides."""
    from creval.plugins.registry import ANY_SCORE

    required = component.parameters.get("required", ())
    for name, schema in component.parameters.get("properties", {}).items():
        note = ", required" if name in required else ""
        about = schema.get("description", "")
        yield f"{name}: {_type(schema)}{note}{f' ({about})' if about else ''}"
    for field, words in _STATED.items():
        names = ["depending on its parameters" if name == ANY_SCORE else name for name in getattr(component, field)]
        if names:
            yield f"{words} {', '.join(names)}"


def _type(schema: Mapping[str, Any]) -> str:
    """Return the type that a JSON Schema describes, e.g. `integer >= 1`, `max | min`, `list of string`."""
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    if "x-component" in schema:
        return f"component of kind {schema['x-component']}"
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return " | ".join(_type(one) for one in schema[key])
    kind = schema.get("type", "any value")
    if isinstance(kind, list) and "x-component" in schema.get("items", {}):
        return f"{_type(schema['items'])}, or a list of them"
    if kind == "array":
        items = schema.get("items")
        return f"list of {_type(items)}" if isinstance(items, Mapping) and items else "list"
    limits = [f" {sign} {schema[key]}" for key, sign in _LIMITS if key in schema]
    return (kind if isinstance(kind, str) else " | ".join(kind)) + ",".join(limits)

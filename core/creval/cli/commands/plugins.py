"""`creval plugins`, `creval new` and `creval registry`: what is installed, what is begun, what is published."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from creval.escape import visible

if TYPE_CHECKING:
    from creval.plugins.loader import Plugins
    from creval.plugins.registry import Component

__all__ = ["new", "plugins", "signature"]


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


@click.group(no_args_is_help=True, epilog="Example: creval new plugin rhymes")
def new() -> None:
    """Write a plugin or a task that works, to be changed into your own."""


@new.command(epilog="Example: creval new plugin rhymes --licence MIT")
@click.argument("name")
@click.option("--folder", type=click.Path(path_type=Path), default=Path(), help="Where it is written (here).")
@click.option("--licence", default="MIT", show_default=True, help="MIT, BSD-3-Clause or Apache-2.0.")
@click.option("--author", default="", help="Who holds the copyright.")
def plugin(name: str, folder: Path, licence: str, author: str) -> None:
    """Write the package creval-NAME: a task, a scorer, three docs, tests, workflow, README, changelog, licence."""
    from creval.scaffold.new_files import new_plugin

    files = new_plugin(name, folder, licence, author)
    home = Path(files[0]).parent
    for file in files:
        click.echo(visible(str(file)))
    click.echo(visible(f"\nNow:\n  cd {home}\n  pip install -e '.[test]'\n  pytest\n  creval ls {name}"))


@new.command(epilog="Example: creval new task riddles.yaml --like choices")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--like", default="questions", show_default=True, help="questions, choices, judged or mode_collapse.")
def task(file: Path, like: str) -> None:
    """Write the task FILE and its data beside it; no code is needed (docs/task-without-code.md)."""
    from creval.scaffold.new_files import new_task

    files = new_task(file, like)
    for each in files:
        click.echo(visible(str(each)))
    shown = files[0] if files[0].parent != Path() else f"./{files[0]}"
    click.echo(visible(f"\nNow:\n  creval validate {shown} --tests\n  creval --tasks {shown} --model baseline/ceiling"))


@click.group(no_args_is_help=True, epilog="Example: creval registry check --help")
def registry() -> None:
    """Published plugins: one file each, which `creval ls --registry` lists."""


@registry.command(epilog="Example: creval registry check association")
@click.argument("plugins", nargs=-1)
@click.option("--entries", type=click.Path(path_type=Path), help="The folder of entries (those shipped with creval).")
@click.option("--find-links", type=click.Path(path_type=Path), metavar="DIR", help="A folder of wheels to take first.")
@click.option("--shared", is_flag=True, help="Third-party packages are this environment's; no network is used.")
@click.pass_context
def check(
    ctx: click.Context, plugins: Sequence[str], entries: Path | None, find_links: Path | None, shared: bool
) -> None:
    """Install each entry's package into an empty environment and check version, tasks, hashes and every rule.

    The rules are those of a plugin's own tests; floor and ceiling are played. Exit code 1 where anything is wrong.
    """
    from creval.catalogue.registry_entries import SHIPPED, Source, check_entry, read_entries

    if find_links is not None and not find_links.is_dir():
        raise click.UsageError(f"--find-links: there is no folder {find_links}")
    if shared and find_links is None:
        raise click.UsageError("--shared installs from a folder of wheels alone: add --find-links DIR")
    broken = 0
    for entry in read_entries(plugins, entries or SHIPPED):
        for each in check_entry(entry, Source(find_links, shared)):
            broken += bool(each.faults)
            state = "FAULTY" if each.faults else "ok"
            click.echo(visible(f"{entry.plugin} {entry.version}  {each.name}: {state}"))
            for fault in each.faults:
                click.echo(visible(f"    {fault}"))
    if broken:
        ctx.exit(1)


_STATED = {
    "produces": "produces the scores",
    "uses": "uses the resources",
    "roles": "asks the roles",
    "prompts": "needs the prompts",
    "provides": "gives prompts the names",
}

_LIMITS = (("minimum", ">="), ("exclusiveMinimum", ">"), ("maximum", "<="), ("exclusiveMaximum", "<"))


def signature(component: Component) -> Iterator[str]:
    """Yield one line a parameter (`name: type`), then what the component produces, uses, asks and provides."""
    from creval.plugins.registry import ANY_SCORE

    required = component.parameters.get("required", ())
    for name, schema in component.parameters.get("properties", {}).items():
        note = ", required" if name in required else ""
        about = schema.get("description", "")
        yield f"{name}: {_type(schema)}{note}{f' ({about})' if about else ''}"
    for field, words in _STATED.items():
        names = ["as its parameters say" if name == ANY_SCORE else name for name in getattr(component, field)]
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

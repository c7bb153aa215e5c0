"""One page a task or family, made from its YAML: what it asks, how it is scored, floor, ceiling, gold answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import yaml

from creval.plugins.loader import Plugins, load_plugins
from creval.tasks.index import TaskIndex
from creval.tasks.task_model import MetricSpec, Task
from creval.tasks.yaml.headers import TaskHeader

__all__ = ["task_pages"]

_BETTER = {True: "higher", False: "lower", None: "neither"}


def task_pages() -> Mapping[str, str]:
    """Return the pages by their path on the site: the list and one per task; the variants of a family share a page."""
    plugins = load_plugins()
    index = TaskIndex(plugins)
    found: dict[str, str] = {}
    listed: dict[str, list[str]] = {}
    for header in index.headers():
        if header.variant is not None and not _stands_for_its_family(header, index):
            continue
        name = header.name if header.variant is None else str(header.family and header.family.name)
        place = f"{header.plugin}/{name}{'-suite' if header.kind == 'suite' else ''}.md"
        found[f"tasks/{place}"] = _suite(header) if header.kind == "suite" else _task(header, index, plugins, name)
        kind = "suite" if header.kind == "suite" else "task" if header.variant is None else "family"
        listed.setdefault(header.plugin, []).append(f"| [{name}]({place}) | {kind} | {_cell(header.title)} |")
    lines = ["# Tasks", ""]
    for plugin, rows in sorted(listed.items()):
        lines += [f"## {plugin}", "", "| name | | what it is |", "|---|---|---|", *rows, ""]
    found["tasks/index.md"] = "\n".join(lines)
    return found


def _stands_for_its_family(header: TaskHeader, index: TaskIndex) -> bool:
    """Whether a variant is the first of a family that is no task itself."""
    if header.family is None or header.family.whole:
        return False
    members = index.members(f"{header.plugin}/{header.family.name}")
    return bool(members) and members[0].name == header.name


def _suite(header: TaskHeader) -> str:
    text = header.file.read_text(encoding="utf-8")
    return f"# {header.name}\n\n{header.title}\n\n```yaml\n{text.rstrip()}\n```\n"


def _task(header: TaskHeader, index: TaskIndex, plugins: Plugins, name: str) -> str:
    task = index.load(header.qualified)
    members = index.members(f"{header.plugin}/{name}")
    parts = [
        f"# {name}",
        f"**{_cell(task.title)}**",
        task.description.strip(),
        _facts(task),
        _variants(members),
        "## Prompts",
        *_prompts(task),
        "## Metrics",
        _metrics(task.metrics),
        "## Floor and ceiling",
        _baselines(task, plugins),
        *_parity(task),
        *_gold(task),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(task: Task) -> str:
    source = " ".join(part for part in (task.source.paper, task.source.section) if part)
    rows = {
        "version": task.version,
        "hash": f"`{task.hash[:16]}`",
        "paper": source,
        "measures": ", ".join(task.measures),
        "protocol": f"`{task.protocol.name}`",
        "conditions": ", ".join(f"`{condition.name}`" for condition in task.conditions),
        "tries a doc": str(task.repeats),
        "resources": ", ".join(f"`{key}={value}`" for key, value in task.resources.items()),
        "roles": ", ".join(f"`{role}`" for role in task.roles),
        "run it": f"`creval --tasks {task.name} --model provider/model`",
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in rows.items() if value)])


def _variants(members: Sequence[TaskHeader]) -> str:
    if not members:
        return ""
    rows = [f"| `{member.name}` | {member.version} | {_cell(member.title)} |" for member in members]
    return "\n".join(["## Variants", "", "| task | version | |", "|---|---|---|", *rows])


def _prompts(task: Task) -> Iterator[str]:
    for name, prompt in task.prompts.items():
        yield f"`{name}`"
        for message in prompt:
            yield f"````text\n{message.role}:\n{message.template.rstrip()}\n````"
    if not task.prompts:
        yield "The protocol makes its messages itself."


def _metrics(metrics: Sequence[MetricSpec]) -> str:
    lines = ["| metric | better | a failed answer counts | |", "|---|---|---|---|"]
    for metric in metrics:
        name = f"**{metric.name}**" if metric.primary else metric.name
        failed = f"{metric.failed_value:g}" if metric.failed == "zero" else "not at all"
        unit = f" ({metric.unit})" if metric.unit else ""
        lines.append(f"| {name}{unit} | {_BETTER[metric.higher_is_better]} | {failed} | {_cell(metric.description)} |")
    return "\n".join(lines)


def _baselines(task: Task, plugins: Plugins) -> str:
    if not task.baselines:
        return "None is stated."
    lines = []
    for which, ref in task.baselines.items():
        component = plugins.registry.get("baseline", ref.name)
        lines.append(f"- {which}: `{ref.name}`. {component.summary} Run it with `--model baseline/{which}`.")
    return "\n".join(lines)


def _parity(task: Task) -> Iterator[str]:
    stated = dict(task.parity)
    if "against" in stated:
        yield "## Held against"
        yield f"```yaml\n{yaml.safe_dump(stated, sort_keys=False, allow_unicode=True).rstrip()}\n```"
    elif stated:
        yield f"## Held against\n\nNothing: {stated['none']}"


def _gold(task: Task) -> Iterator[str]:
    tests = task.resolved.get("tests")
    if not isinstance(tests, list) or not tests:
        return
    yield "## Answers and what they are worth"
    for test in tests[:6]:
        shown = {key: value for key, value in test.items() if key in ("answer", "answers", "status", "scores")}
        text = json.dumps(shown, ensure_ascii=False, indent=2)
        yield f"`{test.get('name', '')}`\n\n```json\n{text[:1500]}{' ...' if len(text) > 1500 else ''}\n```"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")

"""`creval ls` and `creval show`: tasks and suites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import click

from creval.cli import completion
from creval.errors import nearest
from creval.escape import json_text, visible

if TYPE_CHECKING:
    from creval.plugins.loader import Plugins
    from creval.tasks.index import TaskIndex
    from creval.tasks.task_collections import CollectedTask, Collections
    from creval.tasks.task_model import CombinedMetric, MetricSpec, Task
    from creval.tasks.yaml.headers import TaskHeader

__all__ = ["ls", "show"]


Row = tuple[str, str, str, str, str, str]
"""Name, version, kind, plugin, number of variants, title."""


@click.command(epilog="Example: creval ls kumo --all")
@click.argument("words", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Also list each variant of a family.")
@click.option("--registry", is_flag=True, help="List published plugins, installed or not.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: one object per task, including variants.")
def ls(words: Sequence[str], every: bool, registry: bool, as_json: bool) -> None:
    """List tasks and suites; with WORDS only those whose name, plugin, title or measure contains one of them.

    A word such as 'drat_*' or 'kumo/*' is a pattern of names; it also lists a collection ('lmeval/*'). A family, a file
    of several tasks, is one row; its variants are listed by --all, or if a word matches them but not the family.
    """
    if registry:
        from creval.cli.lazy_group import import_installed

        import_installed("creval_testing.list_registry:list_registry", "creval-testing", "--registry")(words, as_json)
        return
    from creval.plugins.loader import load_plugins
    from creval.tasks.index import TaskIndex

    plugins = load_plugins()
    index = TaskIndex(plugins)
    elsewhere = _name_collections_alone(words, plugins)
    headers = [] if elsewhere else [header for header in index.headers() if _matches(header, words)]
    for problem in () if elsewhere else index.problems():
        click.echo(visible(" ".join(str(problem).split())), err=True)
    for failure in plugins.failures:
        click.echo(f"plugin {failure.name} could not be loaded: see creval plugins", err=True)
    collected = [row for word in words if "/" in word for row in index.collections.matching(word)]
    if as_json:
        click.echo(json_text([*map(_record, headers), *(_collected_record(*each) for each in collected)]))
        return
    rows = [_row(header) for header in headers] if every else _family_rows(headers)
    rows += [(task.name, "", task.kind, plugin, "", task.title) for plugin, task in collected]
    rows += [row for row in _collection_rows(index.collections) if _contains_a_word(" ".join(row), words)]
    if not rows:
        click.echo(visible(_nothing(words, index)))
        return
    head = ("NAME", "VERSION", "KIND", "PLUGIN", "VARIANTS", "TITLE")
    with_variants = any(row[4] for row in rows)
    _print_columns(*([row if with_variants else (*row[:4], row[5]) for row in part] for part in ([head], rows)))


def _nothing(words: Sequence[str], index: TaskIndex) -> str:
    """Return the message of an empty list, with names near the words."""
    if not words:
        return "There are no tasks: no plugin adds any (see creval plugins)"
    names = {name for header in index.headers() for name in (header.name, header.plugin)}
    collections = {f"{word.partition('/')[0]}/*" for word in words if "/" in word}
    names |= {f"{plugin}/{task.name}" for each in collections for plugin, task in index.collections.matching(each)}
    near = nearest(words[0].strip("*?"), sorted(names))
    guess = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
    return f"No task matches {' '.join(words)!r}. {guess}All tasks: creval ls --all"


def _name_collections_alone(words: Sequence[str], plugins: Plugins) -> bool:
    """Whether all words are patterns in collections of plugins without task files, so that none has to be read."""
    named = {word.partition("/")[0] if "/" in word else None for word in words}
    return bool(named) and named <= plugins.collections.keys() - {plugin for plugin, _ in plugins.task_folders}


def _row(header: TaskHeader, variants: str = "") -> Row:
    return header.name, header.version, header.kind, header.plugin, variants, header.title


def _family_rows(headers: Sequence[TaskHeader]) -> list[Row]:
    """Return a row for each task, suite and family; variants have their own rows if not all of a family is listed."""
    listed = Counter(header.file for header in headers if header.variant is not None)
    files_with_row = {header.file for header in headers if header.family is not None and header.variant is None}
    rows = []
    for header in headers:
        family = header.family
        if family is None or (header.variant is not None and header.file not in files_with_row and family.whole):
            rows.append(_row(header))
        elif header.variant is None:
            rows.append(_row(header, _count(family.size)))
        elif header.file in files_with_row:
            continue
        elif listed[header.file] < family.size:
            rows.append(_row(header))
        else:  # a family without a task of its name is listed in place of its first variant
            files_with_row.add(header.file)
            rows.append((family.name, family.version, "family", header.plugin, _count(family.size), family.title))
    return list(_without_duplicates(rows))


def _without_duplicates(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield each name of a plugin once; a family with the name of a suite or task only adds its number of variants."""
    families = {(row[0], row[3]): row for row in rows if row[2] == "family"}
    other_keys = {(row[0], row[3]) for row in rows if row[2] != "family"}
    for row in rows:
        key = row[0], row[3]
        if row[2] != "family" and key in families:
            yield (*row[:4], families[key][4], row[5])
        elif row[2] != "family" or key not in other_keys:
            yield row


def _count(variants: int) -> str:
    return f"{variants} variant{'s' if variants > 1 else ''}"


def _collection_rows(collections: Collections) -> Iterator[Row]:
    """Yield one row for each collection of tasks; a pattern such as `lmeval/*` lists its tasks."""
    for plugin in collections.plugins:
        found = collections.of(plugin)
        if found is not None:
            yield f"{plugin}/*", "", "collection", plugin, "", found.title


def _collected_record(plugin: str, task: CollectedTask) -> dict[str, object]:
    return {"name": task.name, "plugin": plugin, "kind": task.kind, "title": task.title}


def _matches(header: TaskHeader, words: Sequence[str]) -> bool:
    named = any(fnmatchcase(header.qualified if "/" in word else header.name, word) for word in words)
    return named or _contains_a_word(" ".join((header.name, header.plugin, header.title, *header.measures)), words)


def _contains_a_word(text: str, words: Sequence[str]) -> bool:
    return not words or any(word.lower() in text.lower() for word in words)


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
    widths = [max(map(len, column)) for column in zip(*head, *rows, strict=True)]
    every = ("  ".join(map(str.ljust, row, widths)) for row in (*head, *rows))
    click.echo("\n".join(visible(line).rstrip() for line in every))


_FAILED = (
    "(failed: how an unparsed, truncated or refused answer counts, if the scorer gives it no value;",
    " errored samples count in no metric)",
)


@click.command(epilog="Example: creval show drat --resolved")
@click.argument("task", shell_complete=completion.tasks)
@click.option(
    "--resolved", is_flag=True, help="Print the task with all includes merged, and where each value came from."
)
@click.option("--eval-yaml", is_flag=True, help="Print the task as eval.yaml of a Hub dataset, which inspect-ai runs.")
@click.pass_context
def show(ctx: click.Context, task: str, resolved: bool, eval_yaml: bool) -> None:
    """Show TASK (a name, plugin/name or path): its description and variants, or with --resolved its whole YAML.

    With --eval-yaml the task is printed in the form that inspect-ai runs from a dataset on the Hub; if it has none,
    creval reports every reason, with exit code 1.
    """
    from creval.plugins.loader import load_plugins
    from creval.tasks.index import TaskIndex

    index = TaskIndex(load_plugins())
    members = index.members(task)
    if members and not resolved and not index.has(task):
        click.echo(visible(f"{task} is a family of tasks without a task of that name"))
        _show_variants(members)
        return
    loaded_task = index.load(task)
    if eval_yaml:
        ctx.exit(_show_hub_form(loaded_task))
    if resolved:
        click.echo(_yaml(dict(loaded_task.resolved)))
        click.echo("# where each value came from")
        for path, origin in loaded_task.origins.items():
            click.echo(visible(f"#   {path}: {origin}"))
        return
    click.echo(visible(f"{loaded_task.qualified} {loaded_task.version}: {loaded_task.title}"))
    if loaded_task.description:
        click.echo(visible(f"\n{loaded_task.description.strip()}\n"))
    for name, value in _facts(loaded_task):
        if "\n" in value:
            click.echo(visible("\n".join([f"{name}:", *(f"  {line}" for line in value.splitlines())])))
        elif value:
            click.echo(visible(f"{name + ':':12}{value}"))
    _show_variants(members)


def _show_hub_form(task: Task) -> int:
    """Print the Hub's form of a task and return 0, or the reasons why it has none and return 1."""
    from creval.cli.lazy_group import import_installed

    hub_form = import_installed("creval_hub.hub_form:hub_form", "creval-hub", "`creval show --eval-yaml`")
    form = hub_form(task)
    for reason in form.reasons:
        click.echo(visible(f"{task.qualified} has no eval.yaml: {reason}"), err=True)
    if form.data is None:
        return 1
    for note in form.notes:
        click.echo(visible(f"# {note}"))
    click.echo(visible(_yaml(form.data)))
    return 0


def _show_variants(members: Sequence[TaskHeader]) -> None:
    """List the variants of a family."""
    if members:
        click.echo("variants:")
    width = max((len(member.name) for member in members), default=0)
    for member in members:
        click.echo(visible(f"  {member.name.ljust(width)}  {member.title}".rstrip()))


def _facts(task: Task) -> Iterator[tuple[str, str]]:
    """Yield the facts about a task by name; a value of several lines is a block."""
    yield "plugin", f"{task.plugin} {task.plugin_version}"
    yield "file", str(task.file)
    yield "hash", task.hash
    yield "paper", " ".join(part for part in (task.source.paper, task.source.section) if part)
    yield "parity", _parity(task.parity)
    yield "measures", ", ".join(task.measures)
    yield "data", _yaml(task.resolved["dataset"]) if "dataset" in task.resolved else task.dataset.source
    yield "protocol", task.protocol.name
    yield "readings", "\n".join(f"{name}: {' > '.join(r.name for r in refs)}" for name, refs in task.readings.items())
    yield "conditions", ", ".join(condition.name for condition in task.conditions)
    yield "repeats", str(task.repeats)
    yield "resources", ", ".join(f"{name}={spec}" for name, spec in task.resources.items())
    yield "roles", ", ".join(task.roles)
    yield "metrics", "\n".join([*(line for metric in task.every_metric for line in _metric(metric)), *_FAILED])
    yield "baselines", ", ".join(f"{name}: {ref.name}" for name, ref in task.baselines.items())


def _parity(parity: Mapping[str, Any]) -> str:
    """Return in one line what the task was compared with."""
    if "against" not in parity:
        return f"none: {parity['none']}" if parity else "none stated"
    commit = f" (commit {parity['commit'][:12]})" if "commit" in parity else ""
    share = f"{parity['agreement']:.1%} of {parity['answers']:,} compared agree"
    if "numbers" in parity:
        count, basis = parity["numbers"], f"made over {parity['answers']:,} answers"
        share = f"{parity['agreement']:.1%} of {count:,} {'number' if count == 1 else 'numbers'} {basis} agree"
    return f"{share} with {parity['against']}{commit}; the largest difference is {parity['worst']:.2g}"


def _yaml(value: object) -> str:
    import yaml  # imported late, so that lists of collections start quickly

    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100).removesuffix("\n")


def _metric(metric: MetricSpec | CombinedMetric) -> Iterator[str]:
    better = {True: "higher is better", False: "lower is better", None: "neither direction is better"}
    from creval.tasks.task_model import CombinedMetric

    if isinstance(metric, CombinedMetric):
        made = f"the {metric.how} of {' and '.join(metric.parts)}"
    else:
        made = _failed(metric)
    facts = [better[metric.higher_is_better], made]
    if metric.unit:
        facts.insert(0, f"in {metric.unit}")
    if metric.by:
        facts.append(f"also by {metric.by}")
    yield f"{metric.name}{' (primary)' if metric.primary else ''}: {'; '.join(facts)}"
    if metric.description:
        yield f"    {' '.join(metric.description.split())}"


def _failed(metric: MetricSpec) -> str:
    """Return how the model's own failures count."""
    if metric.failed == "exclude":
        return "failed: exclude (left out)"
    return f"failed: zero (counts as {metric.failed_value:g})"

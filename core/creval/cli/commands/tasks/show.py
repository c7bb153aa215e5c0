"""`creval show`: one task, whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
import yaml

from creval.cli import completing
from creval.visible import visible

if TYPE_CHECKING:
    from creval.tasks.model import MetricSpec, Task
    from creval.tasks.yaml.headers import TaskHeader

__all__ = ["show"]

_FAILED = (
    "(failed: what an unparsed, truncated or refused answer counts, where the scorer gives it no value;",
    " errored samples count in no metric)",
)


@click.command(epilog="Example: creval show drat --resolved")
@click.argument("task", shell_complete=completing.tasks)
@click.option(
    "--resolved", is_flag=True, help="Print the task with all includes merged, and where each value came from."
)
@click.option("--eval-yaml", is_flag=True, help="Print the task as eval.yaml of a Hub dataset, which inspect-ai runs.")
@click.pass_context
def show(ctx: click.Context, task: str, resolved: bool, eval_yaml: bool) -> None:
    """Show TASK (a name, plugin/name or path): its description and variants, or with --resolved its whole YAML.

    With --eval-yaml the task is printed in the form that inspect-ai runs from a dataset on the Hub; where it has none,
    every reason is said, with exit code 1.
    """
    from creval.plugins.loader import load_plugins
    from creval.tasks.index import TaskIndex

    index = TaskIndex(load_plugins())
    members = index.members(task)
    if members and not resolved and not index.has(task):
        click.echo(visible(f"{task} is a family of tasks without a task of that name"))
        _show_variants(members)
        return
    found = index.load(task)
    if eval_yaml:
        ctx.exit(_show_hub_form(found))
    if resolved:
        click.echo(_yaml(dict(found.resolved)))
        click.echo("# where each value came from")
        for path, origin in found.origins.items():
            click.echo(visible(f"#   {path}: {origin}"))
        return
    click.echo(visible(f"{found.qualified} {found.version}: {found.title}"))
    if found.description:
        click.echo(visible(f"\n{found.description.strip()}\n"))
    for name, value in _facts(found):
        if "\n" in value:
            click.echo(visible("\n".join([f"{name}:", *(f"  {line}" for line in value.splitlines())])))
        elif value:
            click.echo(visible(f"{name + ':':12}{value}"))
    _show_variants(members)


def _show_hub_form(task: Task) -> int:
    """Print the Hub's form of a task and return 0, or the reasons why it has none and return 1."""
    from creval.tasks.hub_form import hub_form

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
    """Yield what is known of a task, by name; a value of several lines is a block."""
    yield "plugin", f"{task.plugin} {task.plugin_version}"
    yield "file", str(task.file)
    yield "hash", task.hash
    yield "paper", " ".join(part for part in (task.source.paper, task.source.section) if part)
    yield "parity", _parity(task.parity)
    yield "measures", ", ".join(task.measures)
    yield "data", _yaml(task.resolved["dataset"]) if "dataset" in task.resolved else task.dataset.source
    yield "protocol", task.protocol.name
    yield "conditions", ", ".join(condition.name for condition in task.conditions)
    yield "repeats", str(task.repeats)
    yield "resources", ", ".join(f"{name}={spec}" for name, spec in task.resources.items())
    yield "roles", ", ".join(task.roles)
    yield "metrics", "\n".join([*(line for metric in task.metrics for line in _metric(metric)), *_FAILED])
    yield "baselines", ", ".join(f"{name}: {ref.name}" for name, ref in task.baselines.items())


def _parity(stated: Mapping[str, Any]) -> str:
    """Say in one line what the task was held against."""
    if "against" not in stated:
        return f"none: {stated['none']}" if stated else "none stated"
    at = f" (commit {stated['commit'][:12]})" if "commit" in stated else ""
    share = f"{stated['agreement']:.1%} of {stated['answers']:,} compared agree"
    if "numbers" in stated:
        count, over = stated["numbers"], f"made over {stated['answers']:,} answers"
        share = f"{stated['agreement']:.1%} of {count:,} {'number' if count == 1 else 'numbers'} {over} agree"
    return f"{share} with {stated['against']}{at}; the largest difference is {stated['worst']:.2g}"


def _yaml(value: object) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100).removesuffix("\n")


def _metric(metric: MetricSpec) -> Iterator[str]:
    better = {True: "higher is better", False: "lower is better", None: "neither direction is better"}
    facts = [better[metric.higher_is_better], _failed(metric)]
    if metric.unit:
        facts.insert(0, f"in {metric.unit}")
    yield f"{metric.name}{' (primary)' if metric.primary else ''}: {'; '.join(facts)}"
    if metric.description:
        yield f"    {' '.join(metric.description.split())}"


def _failed(metric: MetricSpec) -> str:
    """Say what the model's own failures count."""
    if metric.failed == "exclude":
        return "failed: exclude (left out)"
    return f"failed: zero (counts as {metric.failed_value:g})"

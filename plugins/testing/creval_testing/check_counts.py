"""Check that a task has as many repeats and turns as its scorers and metrics require."""

from __future__ import annotations

from collections.abc import Iterator

from creval.plugin import Kind, Registry, counted
from creval.plugin.authoring import Dataset, Task
from creval.plugin.checking import ComponentRef, Problem, ScorerRef, scorers_of

__all__ = ["check_repeats", "check_turns", "made"]


def made(registry: Registry, kind: Kind, ref: ComponentRef) -> object | None:
    """Return the component of a task, or None if it cannot be made, which `check_components` reports."""
    try:
        found: object = registry.get(kind, ref.name).load()(**ref.parameters)
    except (Exception, SystemExit):  # a plugin's own code
        return None
    return found


def check_repeats(task: Task, registry: Registry) -> Iterator[Problem]:
    """Yield a problem for every metric and scorer that requires more repeats of a doc than the task has."""
    given = [task.generation, task.protocol.parameters, *(condition.settings for condition in task.conditions)]
    answers = max(settings.get("n") or 1 for settings in given)
    for path, ref in scorers_of(task):
        component = registry.find("scorer", ref.name)
        needed = 1 if component is None else component.scorer_traits(ref.parameters).minimum_repeats
        if task.repeats < needed and answers < 2:
            what = f"the scorer {ref.name!r} compares the answers to a doc, but the task has one"
            yield task.problem_at(path, what, f"Write repeats: {needed} or more.")
    for metric in task.metrics:
        needed = getattr(made(registry, "aggregation", metric.aggregate), "minimum_repeats", 1)
        if task.repeats < needed:
            what = f"the metric {metric.name!r} needs {needed} repeats of each doc; the task asks for {task.repeats}"
            yield task.problem_at(_place(task, metric.name), what, f"Write repeats: {needed} or more.")


def check_turns(task: Task, dataset: Dataset, registry: Registry) -> Iterator[Problem]:
    """Yield a problem for every metric of a turn (`rating@3`) that is in no doc's conversation."""
    turns = _turns_of_metrics(task, registry)
    expected = getattr(made(registry, "protocol", task.protocol) if turns else None, "expected_calls", None)
    try:
        most = 0 if expected is None else max(expected(doc.fields)[1] for doc in dataset)
    except (Exception, SystemExit):  # a plugin's own code: a run reports it for the doc
        return
    for name, number in turns.items():
        if 0 < most < number:
            what = f"the metric {name!r} is of turn {number}, and the longest conversation has {counted(most, 'turns')}"
            yield task.problem_at(_place(task, name), what, "Leave it out, or correct the number.")


def _turns_of_metrics(task: Task, registry: Registry) -> dict[str, int]:
    """Return the turns of the metrics of a single turn, by name."""
    turns: dict[str, int] = {}
    for _, ref in scorers_of(task):
        component = registry.find("scorer", ref.name)
        named = ref.named if isinstance(ref, ScorerRef) else str
        for raw in () if component is None else component.scores_of(ref.parameters):
            before, star, after = named(raw).partition("*") if raw.endswith("@*") else (raw, "", "")
            for metric in task.metrics if star else ():
                turn = metric.source.removeprefix(before).removesuffix(after)
                if turn.isdecimal() and metric.source == f"{before}{turn}{after}":
                    turns[metric.name] = int(turn)
    return turns


def _place(task: Task, metric: str) -> str:
    """Return the key path of a metric in the task file."""
    places = {written["name"]: f"metrics[{index}]" for index, written in enumerate(task.resolved["metrics"])}
    return places.get(metric, "metrics")

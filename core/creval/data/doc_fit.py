"""Whether docs hold what a task's prompts, protocol and scorers take: checked before the model is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from creval.data.dataset import Dataset
from creval.data.few_shot import SHOTS
from creval.data.shaping import brief
from creval.errors import Problem, TaskError
from creval.plugins.registry import Component, Registry
from creval.tasks.sections.prompts import named_prompts
from creval.tasks.task_components import whole_refs
from creval.tasks.task_model import ComponentRef, FewShot, PromptMessage, ScorerRef, Task
from creval.tasks.templates.rendering import fields_of, list_fields, render
from creval.types.code_location import line_of
from creval.types.kinds import Kind
from creval.types.sample import Doc

__all__ = ["doc_problems", "prompts_of"]

MOST_GROUPS = 1_000
"""Of a metric with `by`, each of which is a number of its own in the results."""
_FIX = "Correct the data, or what the task says of them."


def doc_problems(task: Task, docs: Iterable[Doc], registry: Registry, dataset: Dataset) -> Iterator[Problem]:
    """Yield a problem for the first doc that a prompt, protocol or scorer cannot take, one for each of these.

    A field that a prompt takes apart as a list may not be a text. A protocol or scorer says by its method
    `doc_fault(fields)` what is wrong with a doc, or None; one that cannot be made is reported elsewhere. `docs` are
    docs of the `dataset`.
    Of the first doc those prompts are made that take nothing but its fields.
    """
    lists = {
        place: None
        for _, messages, provided in prompts_of(task, registry)
        for place in list_fields(messages, task.file)
        if place.name not in provided
    }
    checking = dict(_checking(task, registry))
    groups = {field: metric.name for metric in task.metrics if (field := metric.group or metric.by) is not None}
    groups |= {metric.by: metric.name for metric in task.combined if metric.by is not None}
    named: dict[str, set[str]] = {by: set() for metric in task.every_metric if (by := metric.by)}
    few_shot = task.few_shot
    for number, doc in enumerate(docs):
        if number == 0:
            yield from _unfit_templates(task, doc, registry)
        if not lists and not checking and not groups and few_shot is None:
            return
        which = f"the doc {doc.id!r} of {dataset.place(doc.id)}"
        if few_shot is not None and (fault := _unanswered(few_shot, doc)) is not None:
            few_shot = None
            yield task.problem_at("few_shot", f"an example before {which} {fault}", _FIX)
        for place in [each for each in lists if isinstance(doc.fields.get(each.name), str)]:
            del lists[place]
            shown = brief(str(doc.fields[place.name]))
            what = f"the prompt takes {place.name!r} as a list, but in {which} it is the text {shown}"
            fix = "Write a list, e.g. in a .jsonl file; a text goes letter by letter."
            yield Problem(what, place.file, place.line, fix=fix)
        for field in [each for each in named if each in doc.fields]:
            named[field].add(str(doc.fields[field]))
            if isinstance(doc.fields[field], list) or len(named[field]) > MOST_GROUPS:
                many = f"there are more than {MOST_GROUPS:,} values of {field!r}"
                what = f"{which} has a list in {field!r}" if isinstance(doc.fields[field], list) else many
                del named[field]
                yield task.problem_at("metrics", f"{what}, by which metrics are reported", "Name another field.")
        for field in [each for each in groups if each not in doc.fields]:
            what = f"{which} lacks the field {field!r}, by which {groups.pop(field)!r} takes docs together"
            yield task.problem_at("metrics", what, _FIX)
        for path, (done_by, part) in list(checking.items()):
            problem = _doc_problem(part, doc)
            if problem:
                del checking[path]
                yield task.problem_at(path, f"{which} cannot be {done_by}: {problem}{dataset.left_out}", _FIX)


def _unfit_templates(task: Task, doc: Doc, registry: Registry) -> Iterator[Problem]:
    """Yield what is wrong with the prompts that take nothing but a doc's fields: too much work, a filter that fails."""
    for _, messages, _ in prompts_of(task, registry):
        if all(fields_of(message.template) <= doc.fields.keys() for message in messages):
            try:
                render(messages, doc.fields, task.file)
            except TaskError as error:
                yield from error.problems


def _unanswered(few_shot: FewShot, doc: Doc) -> str | None:
    """Say that an example of a doc has an empty answer: all fields of the answer's template are blank."""
    names = fields_of(few_shot.answer.template)
    for shot in doc.fields.get(SHOTS, ()):
        values = [shot.get(name) for name in names]
        if names and all(value in (None, [], {}) or not str(value).strip() for value in values):
            return f"has an empty answer: {', '.join(sorted(names))}"
    return None


def _doc_problem(part: Any, doc: Doc) -> str | None:
    try:
        fault = part.doc_fault(doc.fields)
    except (Exception, SystemExit) as error:  # a plugin's own code
        return f"its doc_fault failed: {type(error).__name__}: {error} ({line_of(error)})"
    return str(fault) if fault else None


def prompts_of(task: Task, registry: Registry) -> Iterator[tuple[str, Sequence[PromptMessage], Sequence[str]]]:
    """Yield the prompts of a task and of its roles: key path, messages, and the names it is given beside a doc's."""
    parts = list(_parts(task, registry))
    provides = registry.get("protocol", task.protocol.name).provides
    for name, messages in task.prompts.items():
        named = [given for part, ref in parts if name in dict(named_prompts(part, ref)) for given in part.provides]
        yield ("prompt" if name == "prompt" else f"prompts.{name}"), messages, (*provides, *named)
    if task.few_shot is not None and task.few_shot.header is not None:
        yield "few_shot.header", (task.few_shot.header,), ()
    for role, own in task.role_prompts.items():
        asked = tuple(given for part, _ in parts if role in part.roles or _wraps(part) for given in part.provides)
        for name, messages in own.items():
            yield f"roles.{role}.prompts.{name}", messages, asked


def _parts(task: Task, registry: Registry) -> Iterator[tuple[Component, ComponentRef]]:
    """Yield the task's protocol and scorers, and the components in their parameters."""
    kinds: list[tuple[Kind, ComponentRef]] = [("protocol", task.protocol), *(("scorer", ref) for ref in task.score)]
    for kind, ref in kinds:
        yield from whole_refs(registry.get(kind, ref.name), ref, registry)


def _wraps(part: Component) -> bool:
    """Whether a component takes a scorer, which it hands a doc with more fields."""
    return any(about.get("x-component") == "scorer" for about in part.parameters.get("properties", {}).values())


def _checking(task: Task, registry: Registry) -> Iterator[tuple[str, tuple[str, Any]]]:
    """Yield the protocol and the scorers that check docs, each with its key path and name."""
    listed = isinstance(task.resolved.get("score"), list)
    kinds: list[tuple[str, Kind, ComponentRef]] = [("protocol", "protocol", task.protocol)]
    for at, ref in enumerate(task.score):
        index = ref.position if isinstance(ref, ScorerRef) else at
        kinds.append((f"score[{index}]" if listed else "score", "scorer", ref))
    for path, kind, ref in kinds:
        try:
            made = registry.get(kind, ref.name).load()(**ref.parameters)
        except (Exception, SystemExit):  # a plugin's own code; what makes the run's parts reports it
            continue
        if callable(getattr(made, "doc_fault", None)):
            yield path, (f"{'asked' if kind == 'protocol' else 'scored'} by {ref.name!r}", made)

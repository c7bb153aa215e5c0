"""Checks that docs fit a task's prompts, protocol and scorers, before the model is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from creval.data.dataset import Dataset
from creval.data.few_shot import SHOTS
from creval.data.shaping import shortened
from creval.errors import Problem, TaskError, nearest
from creval.plugins.registry import Component, Registry
from creval.tasks.sections.prompts import named_prompts
from creval.tasks.task_components import whole_refs
from creval.tasks.task_model import ComponentRef, FewShot, PromptMessage, ScorerRef, Task
from creval.tasks.templates.rendering import fields_of, list_fields, render, undefined_fields
from creval.types.code_location import line_of
from creval.types.kinds import Kind
from creval.types.sample import Doc

__all__ = ["doc_problems", "prompts_of"]

MOST_GROUPS = 1_000
"""The most groups of a metric with `by`, each of which is a separate number in the results."""
_NO_FIELD = re.compile(r"^it has no field '([^']*)'")
"""The form in which components report a missing field (`doc_fault`)."""
_DONE = {"protocol": "asked", "scorer": "scored", "baseline": "answered"}
_FIX = "Correct the data, or the task."


class _Place(NamedTuple):
    """Names a doc and its place; that is looked up only for a problem."""

    doc_id: str
    dataset: Dataset

    def __str__(self) -> str:
        return f"the doc {self.doc_id!r} of {self.dataset.place(self.doc_id)}"


def doc_problems(
    task: Task, docs: Iterable[Doc], registry: Registry, dataset: Dataset, baselines: bool = False
) -> Iterator[Problem]:
    """Yield one problem per prompt, protocol or scorer: the first doc that it cannot use.

    A field that a prompt uses as a list may not be a text. The method `doc_fault(fields)` of a protocol or scorer
    returns what is wrong with a doc, or None; one that cannot be created is reported elsewhere. `docs` are docs of the
    `dataset`. With `baselines` the baselines that replace a model are checked too.
    For the first doc, prompts that only need its fields are rendered.
    """
    lists = {
        place: None
        for _, messages, provided in prompts_of(task, registry)
        for place in list_fields(messages, task.file)
        if place.name not in provided
    }
    checking = dict(_doc_checkers(task, registry, baselines))
    groups = {field: metric.name for metric in task.metrics if (field := metric.group or metric.by) is not None}
    groups |= {metric.by: metric.name for metric in task.combined if metric.by is not None}
    groups_by_field: dict[str, set[str]] = {by: set() for metric in task.every_metric if (by := metric.by)}
    few_shot = task.few_shot
    for number, doc in enumerate(docs):
        if number == 0:
            yield from _unfit_templates(task, doc, registry)
        if not lists and not checking and not groups and few_shot is None:
            return
        doc_place = _Place(doc.id, dataset)
        if few_shot is not None and (problem := _unanswered_example(task, few_shot, doc, doc_place)) is not None:
            few_shot = None
            yield problem
        for place in [each for each in lists if isinstance(doc.fields.get(each.name), str)]:
            del lists[place]
            shown = shortened(str(doc.fields[place.name]))
            message = f"the prompt takes {place.name!r} as a list, but in {doc_place} it is the text {shown}"
            fix = "Write a list, e.g. in a .jsonl file; a text is split into letters."
            yield Problem(message, place.file, place.line, fix=fix)
        for field in [each for each in groups_by_field if each in doc.fields]:
            groups_by_field[field].add(str(doc.fields[field]))
            if isinstance(doc.fields[field], list) or len(groups_by_field[field]) > MOST_GROUPS:
                many = f"there are more than {MOST_GROUPS:,} values of {field!r}"
                message = f"{doc_place} has a list in {field!r}" if isinstance(doc.fields[field], list) else many
                del groups_by_field[field]
                yield task.problem_at("metrics", f"{message}, by which metrics are reported", "Name another field.")
        for field in [each for each in groups if each not in doc.fields]:
            message = f"{doc_place} lacks the field {field!r}, by which {groups.pop(field)!r} groups docs"
            near = nearest(field, doc.fields)
            columns = "Add it to `columns` under `dataset`." if task.dataset.columns is not None else _FIX
            yield task.problem_at("metrics", message, f"Did you mean {near[0]!r}?" if near else columns)
        for path, (done_by, part) in list(checking.items()):
            fault = _doc_fault(part, doc)
            if fault:
                del checking[path]
                message = f"{doc_place} cannot be {done_by}: {fault}{dataset.left_out}"
                yield task.problem_at(path, message, _fix(fault, doc.fields))


def _unfit_templates(task: Task, doc: Doc, registry: Registry) -> Iterator[Problem]:
    """Yield the faults of prompts that only need a doc's fields: too much work, a filter that fails."""
    for _, messages, _ in prompts_of(task, registry):
        if all(fields_of(message.template) <= doc.fields.keys() for message in messages):
            try:
                render(messages, doc.fields, task.file)
            except TaskError as error:
                yield from error.problems


def _fix(fault: str, fields: Mapping[str, Any]) -> str:
    """Return the fix of a fault: the field whose name resembles the missing one."""
    named = _NO_FIELD.search(fault)
    near = nearest(named[1], fields) if named else ()
    return f"Did you mean {near[0]!r}?" if near else _FIX


def _unanswered_example(task: Task, few_shot: FewShot, doc: Doc, doc_place: _Place) -> Problem | None:
    """Return the problem of an example without an answer: its template's fields are missing or blank."""
    names = fields_of(few_shot.answer.template)
    for shot in doc.fields.get(SHOTS, ()):
        values = [shot.get(name) for name in names]
        if names - shot.keys():
            for problem in undefined_fields([few_shot.answer], tuple(shot), task.file):
                text = problem.message.replace("no doc has", f"an example before {doc_place} lacks")
                return problem._replace(message=text, path="few_shot.answer")
        if names and all(value in (None, [], {}) or not str(value).strip() for value in values):
            text = f"an example before {doc_place} has an empty answer: {', '.join(sorted(names))}"
            return task.problem_at("few_shot", text, _FIX)
    return None


def _doc_fault(component: Any, doc: Doc) -> str | None:
    try:
        fault = component.doc_fault(doc.fields)
    except (Exception, SystemExit) as error:  # a plugin's own code
        return f"its doc_fault failed: {type(error).__name__}: {error} ({line_of(error)})"
    return str(fault) if fault else None


def prompts_of(task: Task, registry: Registry) -> Iterator[tuple[str, Sequence[PromptMessage], Sequence[str]]]:
    """Yield the prompts of a task and of its roles: key path, messages, and names in addition to a doc's."""
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


def _wraps(component: Component) -> bool:
    """Whether a component has a scorer as parameter, to which it passes a doc with more fields."""
    return any(about.get("x-component") == "scorer" for about in component.parameters.get("properties", {}).values())


def _doc_checkers(task: Task, registry: Registry, baselines: bool) -> Iterator[tuple[str, tuple[str, Any]]]:
    """Yield the protocol and the scorers (and baselines) that check docs, each with its key path and name."""
    listed = isinstance(task.resolved.get("score"), list)
    kinds: list[tuple[str, Kind, ComponentRef]] = [("protocol", "protocol", task.protocol)]
    for at, ref in enumerate(task.score):
        index = ref.position if isinstance(ref, ScorerRef) else at
        kinds.append((f"score[{index}]" if listed else "score", "scorer", ref))
    kinds += [(f"baselines.{name}", "baseline", ref) for name, ref in task.baselines.items()] if baselines else []
    for path, kind, ref in kinds:
        try:
            component = registry.get(kind, ref.name).load()(**ref.parameters)
        except (Exception, SystemExit):  # a plugin's own code; what makes the run's parts reports it
            continue
        if callable(getattr(component, "doc_fault", None)):
            yield path, (f"{_DONE[kind]} by {ref.name!r}", component)

"""Checks the chosen docs before the first call: what a prompt takes as a list is one, and scorers can use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from creval.engine.planning.plan import TaskPlan
from creval.errors import CrevalError, Problem
from creval.plugins.registry import Registry
from creval.tasks.templates.rendering import list_fields

__all__ = ["check_docs"]

Check = Callable[[Mapping[str, Any]], str | None]


def check_docs(plan: TaskPlan, registry: Registry) -> Sequence[Problem]:
    """Return the first problem of the docs of a plan: a text in place of a list, or what a scorer says of a doc.

    A scorer says it by a method `check_doc(fields)` that returns what is wrong with a doc, or None.
    """
    lists = {name: place for messages in plan.task.prompts.values() for name, place in _listed(plan, messages)}
    checks = list(_scorer_checks(plan, registry))
    if not lists and not checks:
        return ()
    for index in range(len(plan.dataset)) if plan.indices is None else plan.indices:
        doc = plan.dataset[index]
        for name, problem in lists.items():
            if isinstance(doc.fields.get(name), str):
                return [problem(doc.id, name)]
        for scorer, check in checks:
            fault = check(doc.fields)
            if fault:
                message = f"the doc {doc.id!r} of {plan.dataset.origin} does not suit the scorer {scorer!r}: {fault}"
                return [Problem(message, plan.task.file, path="score")]
    return ()


def _listed(plan: TaskPlan, messages: Any) -> Iterator[tuple[str, Callable[[str, str], Problem]]]:
    for name, file, line in list_fields(messages, plan.task.file):

        def problem(doc: str, field: str, file: Any = file, line: Any = line) -> Problem:
            which = f"the doc {doc!r} of {plan.dataset.origin}"
            message = f"the prompt takes {field!r} as a list, but in {which} it is a text"
            return Problem(
                message, file, line, cure="Write a list, e.g. in a .jsonl file; a text goes letter by letter."
            )

        yield name, problem


def _scorer_checks(plan: TaskPlan, registry: Registry) -> Iterator[tuple[str, Check]]:
    for ref in plan.task.score:
        try:
            scorer = registry.get("scorer", ref.name).load()(**ref.parameters)
        except CrevalError:
            continue  # what cannot be made is told by those who open it
        check = getattr(scorer, "check_doc", None)
        if callable(check):
            yield ref.name, check

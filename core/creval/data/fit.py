"""Whether docs hold what a task's prompts and scorers take: checked before the model is asked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from creval.data.dataset import Dataset
from creval.plugins.registry import Registry
from creval.tasks.model import Task
from creval.tasks.templates.lists import list_fields

__all__ = ["doc_faults"]

CHECKED = 1_000
"""Docs that are looked at; a fault of a later one is an errored sample."""


def doc_faults(task: Task, dataset: Dataset, registry: Registry) -> Iterator[tuple[str, str]]:
    """Yield (key path, what is wrong) for the first doc that a prompt or a scorer cannot take.

    A field that a prompt takes apart as a list may not be a text. A scorer says by its method `doc_fault(doc)` what is
    wrong with a doc, or None; one that cannot be made is reported elsewhere.
    """
    lists = {f"prompts.{name}": list_fields(messages) for name, messages in task.prompts.items()}
    scorers = list(_checking(task, registry))
    seen: set[str] = set()
    for doc in islice(dataset, CHECKED):
        for path, names in lists.items():
            for name in sorted(names):
                if isinstance(doc.fields.get(name), str) and path not in seen:
                    seen.add(path)
                    shown = str(doc.fields[name])[:60]
                    yield path, f"the prompt takes the items of {name!r}, which in doc {doc.id!r} is the text {shown!r}"
        for path, scorer in scorers:
            fault = scorer.doc_fault(doc.fields) if path not in seen else None
            if fault is not None:
                seen.add(path)
                yield path, f"doc {doc.id!r} cannot be scored: {fault}"


def _checking(task: Task, registry: Registry) -> Iterator[tuple[str, Any]]:
    """Yield the scorers that check docs, each with its key path."""
    for index, ref in enumerate(task.score):
        try:
            scorer = registry.get("scorer", ref.name).load()(**ref.parameters)
        except (Exception, SystemExit):  # a plugin's own code; what makes the run's parts tells of it
            continue
        if hasattr(scorer, "doc_fault"):
            listed = isinstance(task.resolved.get("score"), list)
            yield (f"score[{index}]" if listed else "score"), scorer

"""Puts the text of a doc, and of the prompts made from it, back into a sample that was stored by reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from creval.data.dataset import Dataset
from creval.errors import CrevalError, RunError
from creval.runs.references import doc_digest, text_digest
from creval.tasks.model import Task
from creval.tasks.templates.rendering import render
from creval.types.sample import CallRecord, Sample

__all__ = ["with_doc", "with_texts"]


def with_doc(sample: Sample, dataset: Dataset) -> Sample:
    """Return a sample with its doc. Raises RunError where the data hold another doc, DataError where they hold none."""
    if sample.doc_digest is None:
        return sample
    doc = dataset.by_id(sample.key.doc)
    if doc_digest(doc.fields) != sample.doc_digest:
        raise RunError(
            f"the doc {sample.key.doc!r} is not the one that was asked about",
            where=dataset.origin,
            cure="Use the data of the run, or start a new run.",
        )
    return replace(sample, doc=doc.fields)


def with_texts(sample: Sample, task: Task, dataset: Dataset) -> Sample:
    """Return a sample with its doc, and with the text of each message that a prompt of the task gives for the doc.

    A message that a protocol made of more than the doc keeps its digest.
    """
    whole = with_doc(sample, dataset)
    if sample.doc_digest is None:
        return whole
    texts: dict[str, str] = {}
    for prompt in (*task.prompts.values(), *(each for own in task.role_prompts.values() for each in own.values())):
        try:
            texts |= {text_digest(each.content): each.content for each in render(prompt, whole.doc, task.file)}
        except CrevalError:
            continue  # it needs what only the protocol knew
    return replace(whole, calls=[_filled(call, texts) for call in whole.calls])


def _filled(call: CallRecord, texts: Mapping[str, str]) -> CallRecord:
    messages: Sequence[Mapping[str, Any]] = [
        {"role": each["role"], "content": texts[each["digest"]]} if each.get("digest") in texts else each
        for each in call.messages
    ]
    return replace(call, messages=messages)

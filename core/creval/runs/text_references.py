"""Runs that store their docs by reference: replacing texts by digests, and restoring them from the data.

A task with `store: reference` may not store its docs: the run folder has digests in place of the doc, and of each
message that is not a model's answer. Answers, verdicts, reports and errors are stored unchanged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from creval.data.data_options import DataOptions
from creval.data.dataset import Dataset
from creval.data.open_dataset import open_dataset
from creval.errors import CrevalError, RunError
from creval.plugins.loader import load_plugins
from creval.runs.folder import RunFolder
from creval.runs.jsonl import UnstorableError
from creval.runs.run_commands import resume_command
from creval.runs.task_copies import tasks_here
from creval.runs.trust import Claims
from creval.tasks.index import TaskIndex
from creval.tasks.prompt_overrides import with_examples
from creval.tasks.task_model import Task
from creval.tasks.templates.rendering import render_prompt
from creval.types.content import content_digest
from creval.types.sample import CallRecord, Sample

__all__ = [
    "RunTexts",
    "by_reference",
    "doc_digest",
    "message_reference",
    "settings_reference",
    "tool_reference",
    "with_doc",
    "with_media",
    "with_texts",
]


_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def text_digest(text: str) -> str:
    """Return the sha256 (hex) of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def doc_digest(fields: Mapping[str, Any]) -> str:
    """Return the sha256 (hex) of a doc's fields as canonical JSON."""
    return text_digest(_CANONICAL.encode(dict(fields)))


def message_reference(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message by role, digest and length."""
    if "digest" in message:
        return dict(message)
    content = message["content"]
    fields = {name: value for name, value in message.items() if name != "content"}
    if not isinstance(content, str):
        return {**fields, "content": [*map(_part_reference, content)]}
    return {**fields, "digest": text_digest(content), "characters": len(content)}


def _part_reference(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a message without its text, address or name."""
    text = part.get("text", part.get("url"))
    if isinstance(text, str):
        return {"type": part["type"], "digest": text_digest(text), "characters": len(text)}
    return {name: value for name, value in part.items() if name != "name"}


def tool_reference(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool by its name and digest: its description may be made from the doc."""
    return dict(tool) if "digest" in tool else {"name": tool["name"], **_digested(tool)}


def settings_reference(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a call with digests for texts and nested values, which may be made from the doc."""
    plain = (bool, int, float, type(None))
    return {name: value if isinstance(value, plain) else _digested(value) for name, value in settings.items()}


def by_reference(sample: Sample) -> Sample:
    """Return a sample as stored: without its doc, and without messages other than models' earlier answers.

    Raises UnstorableError if its doc or settings are nested too deeply.
    """
    try:
        answers = {text for call in sample.calls for text in _answer_texts(call)}
        calls = [_call_by_reference(call, answers) for call in sample.calls]
        return replace(sample, doc={}, doc_digest=doc_digest(sample.doc), calls=calls, media={})
    except RecursionError:
        raise UnstorableError("it cannot be stored: it is nested too deeply", fix="Report flatter data.") from None


def _answer_texts(call: CallRecord) -> Sequence[str]:
    if call.reply_data is None or call.output is not None:  # texts of the task are not answers
        return ()
    return [text for c in call.reply_data["completions"] for text in (c["text"], c.get("raw")) if text]


def _call_by_reference(call: CallRecord, answers: set[str]) -> CallRecord:
    messages = [
        dict(message) if message["role"] == "assistant" and _is_answer(message, answers) else message_reference(message)
        for message in call.messages
    ]
    tools = [*map(tool_reference, call.tools)]
    reply = call.reply_data
    if reply is not None and call.output is not None:
        reply = {**reply, "completions": [_without_text(completion) for completion in reply["completions"]]}
    return replace(call, messages=messages, settings=settings_reference(call.settings), reply_data=reply, tools=tools)


def _without_text(completion: Mapping[str, Any]) -> dict[str, Any]:
    """Return a completion for a text of the task, with only its tokens' log-probabilities."""
    tokens = [
        ["", token[1], [["", at] for _, at in token[2]]] if token[2:] else ["", token[1]]
        for token in completion["logprobs"]
    ]
    return {**completion, "text": "", "logprobs": tokens}


def _is_answer(message: Mapping[str, Any], answers: set[str]) -> bool:
    content = message.get("content")
    return isinstance(content, str) and content in answers


def _digested(value: Any) -> Any:
    if isinstance(value, Mapping) and set(value) == {"digest"}:
        return dict(value)
    return {"digest": text_digest(_CANONICAL.encode(value))}


def with_doc(sample: Sample, dataset: Dataset) -> Sample:
    """Return a sample with its doc.

    Raises RunError if the data have another doc, DataError if they have none.
    """
    if sample.doc_digest is None:
        return sample
    doc = dataset.by_id(sample.key.doc)
    if doc_digest(doc.fields) != sample.doc_digest:
        raise RunError(
            f"the doc {sample.key.doc!r} is not the one that the run used",
            where=dataset.origin,
            fix="Use the data of the run, or start a new run.",
        )
    return replace(sample, doc=doc.fields)


def with_media(sample: Sample, dataset: Dataset) -> Sample:
    """Return a sample whose doc has its images, audio and files, if the data have the same doc."""
    if not dataset.media_fields or (place := dataset.find(sample.key.doc)) is None:
        return sample
    fields = dataset[place].fields
    return replace(sample, doc=fields) if doc_digest(fields) == doc_digest(sample.doc) else sample


def with_texts(sample: Sample, task: Task, dataset: Dataset) -> Sample:
    """Return a sample as `with_doc` does, with the text of each message that a prompt of the task renders for the doc.

    A message that a protocol made from more than the doc keeps its digest.
    """
    complete = with_doc(sample, dataset)
    if sample.doc_digest is None:
        return complete
    texts: dict[str, Any] = {}
    for name in (*task.prompts, *(name for prompts in task.role_prompts.values() for name in prompts)):
        try:
            rendered = [each.to_json()["content"] for each in render_prompt(task, name, complete.doc)]
            texts |= {content_digest(content): content for content in rendered}
        except CrevalError:
            continue  # it needs values that only the protocol had
    return replace(complete, calls=[_filled(call, texts) for call in complete.calls])


class RunTexts:
    """The samples of a run with their texts; tasks and data are opened on first use."""

    def __init__(self, manifest: Mapping[str, Any], folder: Path) -> None:
        self._manifest = manifest
        self._folder = folder
        self._open_parts: dict[str, tuple[Task, Dataset]] = {}

    def sample(self, sample: Sample) -> Sample:
        """Return a sample `with_texts`.

        Raises TaskError, DataError, UnknownNameError if task or data are missing, UntrustedError if a run that was not
        made here names files elsewhere.
        """
        return with_texts(sample, *self._parts(sample.key.task))

    def _parts(self, name: str) -> tuple[Task, Dataset]:
        if name not in self._open_parts:
            options = self._manifest["options"]
            plugins = load_plugins()
            claims = Claims.of_run(self._manifest, self._folder)
            claims.check(resume_command(self._folder, self._manifest), only=("data",))
            requested = tasks_here(RunFolder(self._folder), self._manifest["requested"], claims.trusted)
            tasks = TaskIndex(plugins).expand(list(requested))
            task = next((candidate for candidate in tasks if candidate.name == name), None)
            if task is None:
                raise RunError(f"the run's tasks, as they are now, lack {name!r}", where=str(self._folder))
            task = with_examples(task, options.get("few_shot"), plugins.registry)
            replaced = options.get("data", {})
            data = replaced.get(task.name) or replaced.get(task.qualified)
            opening = replace(
                DataOptions.from_environment(offline=bool(options.get("offline"))),
                replacement=Path(data) if data else None,
                seed=self._manifest["seed"],
            )
            self._open_parts[name] = (task, open_dataset(task.dataset, plugins.registry, opening))
        return self._open_parts[name]


def _filled(call: CallRecord, texts: Mapping[str, Any]) -> CallRecord:
    messages: list[Mapping[str, Any]] = []
    for message in call.messages:
        digest = message.get("digest") or content_digest(message["content"])
        fields = {name: value for name, value in message.items() if name not in ("digest", "characters")}
        messages.append({**fields, "content": texts[digest]} if digest in texts else message)
    return replace(call, messages=messages)

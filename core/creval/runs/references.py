"""A sample of a task that may not store its docs (`store: reference`), as the run folder holds it.

In place of the doc, and of each message that is not a model's own answer, it holds digests. Answers, verdicts, reports
and errors are stored as they are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from creval.runs.jsonl import UnstorableError
from creval.types.sample import CallRecord, Sample

__all__ = ["by_reference", "doc_digest", "message_reference", "settings_reference", "text_digest"]

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
    text = str(message["content"])
    return {"role": message["role"], "digest": text_digest(text), "characters": len(text)}


def settings_reference(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a call with digests for texts and nested values, which may be made from the doc."""
    plain = (bool, int, float, type(None))
    return {name: value if isinstance(value, plain) else _digested(value) for name, value in settings.items()}


def by_reference(sample: Sample) -> Sample:
    """Return a sample as it is stored: without its doc, and without messages other than models' earlier answers.

    Raises UnstorableError where its doc or settings are nested too deeply.
    """
    try:
        said = {text for call in sample.calls for text in _said(call)}
        calls = [_call_by_reference(call, said) for call in sample.calls]
        return replace(sample, doc={}, doc_digest=doc_digest(sample.doc), calls=calls)
    except RecursionError:
        raise UnstorableError("it cannot be stored: it lies too deep", cure="Report flatter data.") from None


def _said(call: CallRecord) -> Sequence[str]:
    if call.reply is None:
        return ()
    return [text for each in call.reply["completions"] for text in (each["text"], each.get("raw")) if text]


def _call_by_reference(call: CallRecord, said: set[str]) -> CallRecord:
    messages = [
        dict(each) if each["role"] == "assistant" and each.get("content") in said else message_reference(each)
        for each in call.messages
    ]
    return replace(call, messages=messages, settings=settings_reference(call.settings))


def _digested(value: Any) -> Any:
    if isinstance(value, Mapping) and set(value) == {"digest"}:
        return dict(value)
    return {"digest": text_digest(_CANONICAL.encode(value))}

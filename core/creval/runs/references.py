"""What stands in a run folder of a task that may not store its docs (`store: reference`), and the way back.

In place of the doc, and of messages made from it, stand digests; what answers, errors, reports and scores quote of them
is sealed with the doc as the key (`creval.quotations`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from creval.models.answers.sealing import sealed_reply_data
from creval.quotations import Originals
from creval.runs.jsonl import UnstorableError
from creval.types.sample import CallRecord, MissingScore, Sample, ScoreRecord

__all__ = [
    "by_reference",
    "doc_digest",
    "message_reference",
    "opened",
    "quotations_of",
    "score_by_reference",
    "score_opened",
    "text_digest",
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
    text = str(message["content"])
    return {"role": message["role"], "digest": text_digest(text), "characters": len(text)}


def by_reference(sample: Sample) -> Sample:
    """Return a sample as it is stored: without its doc, and without what quotes it.

    Of messages those are kept, with their quotations sealed, that repeat what a model said in an earlier call. Raises
    UnstorableError where what it reports lies too deep.
    """
    try:
        return _by_reference(sample)
    except RecursionError:
        raise UnstorableError("it cannot be stored: it lies too deep", cure="Report flatter data.") from None


def _by_reference(sample: Sample) -> Sample:
    said = {text for call in sample.calls for text in _said(call)}
    made = (message["content"] for call in sample.calls for message in call.messages if not _is_kept(message, said))
    originals = Originals.of(dict(sample.doc), made)
    return replace(
        sample,
        doc={},
        doc_digest=doc_digest(sample.doc),
        answers=originals.sealed_data(sample.answers),
        outcome=originals.sealed_data(sample.outcome),
        calls=[_call_by_reference(call, said, originals) for call in sample.calls],
        reason=_sealed(sample.reason, originals),
    )


def opened(sample: Sample, doc: Mapping[str, Any]) -> Sample:
    """Return a sample with its doc and with its quotations, but for the messages of which only the digest is there."""
    originals = Originals.of(dict(doc))
    return replace(
        sample,
        doc=doc,
        answers=originals.opened_data(sample.answers),
        outcome=originals.opened_data(sample.outcome),
        calls=[_call_opened(call, originals) for call in sample.calls],
        reason=originals.opened_data(sample.reason),
    )


def quotations_of(stored: Sample, originals: Originals) -> Iterator[str]:
    """Yield what is sealed in a stored sample."""
    yield from originals.quoted_in([stored.answers, stored.outcome, stored.reason])
    for call in stored.calls:
        yield from originals.quoted_in([call.messages, call.reply, call.error])


def score_by_reference(score: ScoreRecord, originals: Originals) -> ScoreRecord:
    """Return a score as it is stored."""
    return _score_changed(score, originals.sealed_data)


def score_opened(score: ScoreRecord, doc: Mapping[str, Any]) -> ScoreRecord:
    """Return the score that `score_by_reference` was given."""
    return _score_changed(score, Originals.of(dict(doc)).opened_data)


def _score_changed(score: ScoreRecord, change: Any) -> ScoreRecord:
    return replace(
        score,
        value=change(score.value),
        reason=change(score.reason),
        details=change(score.details),
        missing={name: MissingScore(lack.status, change(lack.reason)) for name, lack in score.missing.items()},
    )


def _said(call: CallRecord) -> Sequence[str]:
    if call.reply is None:
        return ()
    return [text for each in call.reply["completions"] for text in (each["text"], each.get("raw")) if text]


def _is_kept(message: Mapping[str, Any], said: set[str]) -> bool:
    return message["role"] == "assistant" and message["content"] in said


def _call_by_reference(call: CallRecord, said: set[str], originals: Originals) -> CallRecord:
    return replace(
        call,
        messages=[
            {"role": each["role"], "content": originals.sealed(each["content"])}
            if _is_kept(each, said)
            else message_reference(each)
            for each in call.messages
        ],
        reply=None if call.reply is None else sealed_reply_data(call.reply, originals),
        error=_sealed(call.error, originals),
        settings=originals.sealed_data(call.settings),
    )


def _call_opened(call: CallRecord, originals: Originals) -> CallRecord:
    return replace(
        call,
        messages=originals.opened_data(call.messages),
        reply=originals.opened_data(call.reply),
        error=originals.opened_data(call.error),
        settings=originals.opened_data(call.settings),
    )


def _sealed(text: str | None, originals: Originals) -> str | None:
    return None if text is None else originals.sealed(text)

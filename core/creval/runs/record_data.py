"""Converts samples and scores to the plain data of their files, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.types.sample import CallRecord, ComponentFault, MissingScore, Sample, SampleKey, ScoreRecord, Status

__all__ = ["read_faults", "read_key", "read_sample", "read_score", "sample_data", "score_data"]


def read_key(record: Mapping[str, Any]) -> SampleKey:
    """Return the key of a line of samples/ or scores/."""
    return SampleKey(record["task"], record["doc_id"], record["condition"], record["repeat"])


def _key_data(key: SampleKey) -> dict[str, Any]:
    return {"task": key.task, "doc_id": key.doc, "condition": key.condition, "repeat": key.repeat}


def sample_data(sample: Sample) -> dict[str, Any]:
    """Return a sample as plain data, without empty members."""
    data = _key_data(sample.key)
    data["status"] = sample.status.value
    data["seed"] = sample.seed
    data["started"] = sample.started
    data["seconds"] = round(sample.seconds, 6)
    data["doc"] = sample.doc
    if sample.doc_digest is not None:
        data["doc_digest"] = sample.doc_digest
    data["answers"] = sample.answers
    if sample.outcome:
        data["outcome"] = sample.outcome
    if sample.reason is not None:
        data["reason"] = sample.reason
    if sample.faults:
        data["faults"] = [fault._asdict() for fault in sample.faults]
    data["calls"] = [_call_data(call) for call in sample.calls]
    return data


def _call_data(call: CallRecord) -> dict[str, Any]:
    data: dict[str, Any] = {"role": call.role, "kept": call.kept, "messages": call.messages}
    if call.output is not None:
        data["output"] = call.output
    if call.settings:
        data["settings"] = call.settings
    if call.tools:
        data["tools"] = call.tools
    if call.reply_data is not None:
        data["reply"] = call.reply_data
    if call.error is not None:
        data["error"] = call.error
    if call.lost is not None:
        data["lost"] = call.lost
    return data


def read_sample(record: Mapping[str, Any]) -> Sample:
    """Return the sample of a line of samples/."""
    return Sample(
        key=read_key(record),
        doc=record["doc"],
        status=Status(record["status"]),
        answers=record["answers"],
        outcome=record.get("outcome", {}),
        calls=[_read_call(call) for call in record["calls"]],
        reason=record.get("reason"),
        seed=record["seed"],
        started=record["started"],
        seconds=record["seconds"],
        doc_digest=record.get("doc_digest"),
        faults=read_faults(record),
    )


def read_faults(record: Mapping[str, Any]) -> list[ComponentFault]:
    """Return the faults of components in a line of samples/ or scores/."""
    names = ComponentFault._fields
    return [ComponentFault(*(str(fault.get(name, "")) for name in names)) for fault in record.get("faults", ())]


def _read_call(call: Mapping[str, Any]) -> CallRecord:
    return CallRecord(
        role=call["role"],
        kept=call["kept"],
        messages=call["messages"],
        reply_data=call.get("reply"),
        error=call.get("error"),
        settings=call.get("settings", {}),
        lost=call.get("lost"),
        tools=call.get("tools", ()),
        output=call.get("output"),
    )


def score_data(score: ScoreRecord) -> dict[str, Any]:
    """Return a score as plain data, without empty members."""
    data = _key_data(score.key) | {"status": score.status.value, "scores": dict(score.scores)}
    optional = {"value": score.value, "route": score.route, "reason": score.reason, "details": dict(score.details)}
    if score.missing:
        optional["missing"] = {
            name: {"status": missing.status.value, "reason": missing.reason} for name, missing in score.missing.items()
        }
    if score.faults:
        optional["faults"] = [fault._asdict() for fault in score.faults]
    return data | {name: value for name, value in optional.items() if value not in (None, {})}


def read_score(record: Mapping[str, Any]) -> ScoreRecord:
    """Return the score of a line of scores/."""
    return ScoreRecord(
        key=read_key(record),
        status=Status(record["status"]),
        scores=record["scores"],
        value=record.get("value"),
        route=record.get("route"),
        reason=record.get("reason"),
        details=record.get("details", {}),
        missing={
            name: MissingScore(Status(missing["status"]), missing["reason"])
            for name, missing in record.get("missing", {}).items()
        },
        faults=read_faults(record),
    )

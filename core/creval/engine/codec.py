"""Samples and scores as the plain data of their files, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.types.messages import Reply
from creval.types.sample import CallRecord, Sample, SampleKey, SampleScore, Status

__all__ = ["read_key", "read_sample", "read_score", "reply_data", "sample_data", "score_data"]


def read_key(record: Mapping[str, Any]) -> SampleKey:
    """Return the key of a line of samples/ or scores/."""
    return SampleKey(record["task"], record["doc_id"], record["condition"], record["repeat"])


def _key_data(key: SampleKey) -> dict[str, Any]:
    return {"task": key.task, "doc_id": key.doc, "condition": key.condition, "repeat": key.repeat}


def sample_data(sample: Sample) -> dict[str, Any]:
    """Return a sample as plain data, without what is empty."""
    data = _key_data(sample.key)
    data |= {"status": sample.status.value, "seed": sample.seed, "started": sample.started}
    data |= {"seconds": round(sample.seconds, 6), "doc": dict(sample.doc), "answers": list(sample.answers)}
    if sample.outcome:
        data["outcome"] = dict(sample.outcome)
    if sample.reason is not None:
        data["reason"] = sample.reason
    data["calls"] = [_call_data(call) for call in sample.calls]
    return data


def _call_data(call: CallRecord) -> dict[str, Any]:
    data: dict[str, Any] = {"role": call.role, "kept": call.kept, "messages": [dict(m) for m in call.messages]}
    if call.reply is not None:
        data["reply"] = dict(call.reply)
    if call.error is not None:
        data["error"] = call.error
    return data


def read_sample(record: Mapping[str, Any]) -> Sample:
    """Return the sample of a line of samples/."""
    return Sample(
        key=read_key(record),
        doc=record["doc"],
        status=Status(record["status"]),
        answers=record["answers"],
        outcome=record.get("outcome", {}),
        calls=[
            CallRecord(call["role"], call["kept"], call["messages"], call.get("reply"), call.get("error"))
            for call in record["calls"]
        ],
        reason=record.get("reason"),
        seed=record["seed"],
        started=record["started"],
        seconds=record["seconds"],
    )


def score_data(score: SampleScore) -> dict[str, Any]:
    """Return a score as plain data, without what is empty."""
    data = _key_data(score.key) | {"status": score.status.value, "scores": dict(score.scores)}
    optional = {"value": score.value, "route": score.route, "reason": score.reason, "details": dict(score.details)}
    return data | {name: value for name, value in optional.items() if value not in (None, {})}


def read_score(record: Mapping[str, Any]) -> SampleScore:
    """Return the score of a line of scores/."""
    return SampleScore(
        key=read_key(record),
        status=Status(record["status"]),
        scores=record["scores"],
        value=record.get("value"),
        route=record.get("route"),
        reason=record.get("reason"),
        details=record.get("details", {}),
    )


def reply_data(reply: Reply) -> dict[str, Any]:
    """Return a reply as plain data, without what is empty."""
    completions = []
    for completion in reply.completions:
        item: dict[str, Any] = {"text": completion.text, "finish_reason": completion.finish_reason}
        if completion.reasoning is not None:
            item["reasoning"] = completion.reasoning
        if completion.refusal is not None:
            item["refusal"] = completion.refusal
        if completion.logprobs is not None:
            item["logprobs"] = [[token.token, token.logprob] for token in completion.logprobs]
        completions.append(item)
    usage = reply.usage
    data: dict[str, Any] = {
        "completions": completions,
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "reasoning_tokens": usage.reasoning_tokens,
        },
        "latency": round(reply.latency, 6),
        "attempts": reply.attempts,
    }
    optional = {"cost": reply.cost, "model": reply.model, "served_by": reply.served_by, "cached": reply.cached or None}
    return data | {name: value for name, value in optional.items() if value is not None}

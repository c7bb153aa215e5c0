"""Questions to other roles and their answers as plain data, for the way from a worker to the ledger and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.models.answers.reply_json import lost_from_json, lost_to_json, reply_from_json, reply_to_json
from creval.models.model_stats import ModelStats
from creval.types.messages import GenerateRequest, Message, Origin, Reply, Usage
from creval.types.sample import Condition, SampleKey

__all__ = ["read_reply", "read_request", "read_stats", "reply_data", "request_data"]


def request_data(request: GenerateRequest) -> dict[str, Any]:
    """Return a request as plain data."""
    origin, condition = request.origin, request.origin.condition
    return {
        "messages": [message.to_json() for message in request.messages],
        "settings": dict(request.settings),
        "n": request.n,
        "own_tags": sorted(request.own_tags),
        "keep_reasoning": request.keep_reasoning,
        "by_reference": request.by_reference,
        "key": list(origin.key),
        "role": origin.role,
        "call": origin.call,
        "doc": dict(origin.doc),
        "condition": None if condition is None else [condition.name, dict(condition.settings)],
    }


def read_request(data: Mapping[str, Any]) -> GenerateRequest:
    """Return the request of which `request_data` told."""
    condition = None if data["condition"] is None else Condition(*data["condition"])
    return GenerateRequest(
        tuple(Message(each["role"], each["content"]) for each in data["messages"]),
        data["settings"],
        Origin(SampleKey(*data["key"]), data["role"], data["call"], data["doc"], condition),
        data["n"],
        frozenset(data["own_tags"]),
        data["keep_reasoning"],
        data["by_reference"],
    )


def reply_data(reply: Reply) -> dict[str, Any]:
    """Return a reply as plain data, with the line of the ledger that holds it."""
    lost = None if reply.lost is None else lost_to_json(reply.lost)
    return {"reply": reply_to_json(reply), "record": reply.record, "lost": lost}


def read_reply(data: Mapping[str, Any]) -> Reply:
    """Return the reply of which `reply_data` told."""
    from dataclasses import replace

    lost = None if data["lost"] is None else lost_from_json(data["lost"])
    return replace(reply_from_json(data["reply"]), record=data["record"], lost=lost)


def read_stats(data: Mapping[str, Any]) -> ModelStats:
    """Return what a model has done, of which `ModelStats.to_json` told."""
    tokens = {name: int(data[name]) for name in Usage.__dataclass_fields__}
    rest = {name: value for name, value in data.items() if name not in tokens}
    return ModelStats(**rest, usage=Usage(**tokens))

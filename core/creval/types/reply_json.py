"""Converts a Reply to plain data and back, for the run folder, the cache and replays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.types.messages import Completion, LostUsage, Reply, TokenLogprob, Usage
from creval.types.tools import tool_calls_from_json

__all__ = ["lost_from_json", "lost_to_json", "reply_from_json", "reply_to_json"]


def lost_to_json(lost: LostUsage) -> dict[str, Any]:
    """Return the usage of unusable tries as plain data."""
    usage = lost.usage
    counts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    counts |= {"reasoning_tokens": usage.reasoning_tokens} if usage.reasoning_tokens else {}
    counts |= {"cached_input_tokens": usage.cached_input_tokens} if usage.cached_input_tokens else {}
    return {"tries": lost.tries, "usage": counts, "cost": lost.cost}


def lost_from_json(data: Mapping[str, Any]) -> LostUsage:
    """Return the usage that `lost_to_json` wrote."""
    return LostUsage(int(data["tries"]), Usage(**data["usage"]), data["cost"])


def reply_to_json(reply: Reply) -> dict[str, Any]:
    """Return a reply as plain data, without empty members."""
    data: dict[str, Any] = {"completions": [_completion_to_json(c) for c in reply.completions]}
    usage = reply.usage
    data["usage"] = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    if usage.reasoning_tokens:
        data["usage"]["reasoning_tokens"] = usage.reasoning_tokens
    if usage.cached_input_tokens:
        data["usage"]["cached_input_tokens"] = usage.cached_input_tokens
    data["cost"] = reply.cost
    data["latency"] = round(reply.latency, 6)
    data["attempts"] = reply.attempts
    for name, value in (("model", reply.model), ("served_by", reply.served_by), ("cached", reply.cached)):
        if value:
            data[name] = value
    if reply.flags:
        data["flags"] = list(reply.flags)
    return data


def reply_from_json(data: Mapping[str, Any]) -> Reply:
    """Return the reply that `reply_to_json` wrote. Raises KeyError, TypeError or ValueError for other data."""
    return Reply(
        completions=tuple(_completion_from_json(c) for c in data["completions"]),
        usage=Usage(**{name: int(count) for name, count in data.get("usage", {}).items()}),
        cost=data.get("cost"),
        latency=float(data.get("latency", 0.0)),
        model=data.get("model"),
        served_by=data.get("served_by"),
        attempts=int(data.get("attempts", 1)),
        cached=bool(data.get("cached", False)),
        flags=tuple(map(str, data.get("flags", ()))),
    )


def _completion_to_json(completion: Completion) -> dict[str, Any]:
    data: dict[str, Any] = {"text": completion.text, "finish_reason": completion.finish_reason}
    if completion.reasoning:
        data["reasoning"] = completion.reasoning
    if completion.refusal:
        data["refusal"] = completion.refusal
    if completion.raw is not None:
        data["raw"] = completion.raw
    if completion.tool_calls:
        data["tool_calls"] = [call.to_json() for call in completion.tool_calls]
    if completion.logprobs is not None:
        data["logprobs"] = [_token_to_json(token) for token in completion.logprobs]
    return data


def _token_to_json(token: TokenLogprob) -> list[Any]:
    pair: list[Any] = [token.token, token.logprob]
    return [*pair, [list(entry) for entry in token.top]] if token.top else pair


def _completion_from_json(data: Mapping[str, Any]) -> Completion:
    logprobs = data.get("logprobs")
    return Completion(
        text=str(data["text"]),
        finish_reason=str(data.get("finish_reason", "stop")),
        reasoning=data.get("reasoning"),
        refusal=data.get("refusal"),
        raw=data.get("raw"),
        tool_calls=tool_calls_from_json(data["tool_calls"]) if "tool_calls" in data else (),
        logprobs=None if logprobs is None else tuple(_token_from_json(token) for token in logprobs),
    )


def _token_from_json(data: Any) -> TokenLogprob:
    token, logprob, *rest = data
    top = tuple((str(t), float(p)) for t, p in rest[0]) if rest else ()
    return TokenLogprob(str(token), float(logprob), top)

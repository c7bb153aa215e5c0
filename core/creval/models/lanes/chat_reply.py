"""What a chat-completions server sent, as a Reply: tolerant of what servers leave out, strict about nonsense."""

from __future__ import annotations

import math
from typing import Any

from creval.types.messages import Completion, Reply, TokenLogprob, Usage

__all__ = ["Malformed", "read_reply"]

# Other words that providers use for the protocol's own.
_FINISH = {
    "max_tokens": "length",
    "model_length": "length",
    "max_output_tokens": "length",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "safety": "content_filter",
    "content_filtered": "content_filter",
}


class Malformed(ValueError):
    """The body is JSON but no chat completion. The message says what is wrong with it."""


def read_reply(body: Any, latency: float, cost: float | None = None) -> Reply:
    """Read a parsed body. `cost` holds where the body reports none. Raises Malformed."""
    if not isinstance(body, dict):
        raise Malformed(f"the reply is a JSON {type(body).__name__}, not an object")
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise Malformed("the reply has no choices")
    reported = _reported_cost(body)
    ordered = choices if len(choices) == 1 else sorted(choices, key=_index)
    served = body.get("provider")
    model = body.get("model")
    return Reply(
        completions=tuple(_completion(choice) for choice in ordered),
        usage=_usage(body.get("usage")),
        cost=cost if reported is None else reported,
        latency=latency,
        model=model if isinstance(model, str) else None,
        served_by=served if isinstance(served, str) else None,
    )


def _reported_cost(body: dict[str, Any]) -> float | None:
    """The price in US dollars that a router tells with its reply, None where it tells none.

    Where the user's own upstream key paid, the router's fee and the upstream price are two numbers.
    """
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return None
    cost = _money(usage.get("cost"))
    details = usage.get("cost_details")
    if cost is not None and usage.get("is_byok") is True and isinstance(details, dict):
        cost += _money(details.get("upstream_inference_cost")) or 0.0
    return cost


def _index(choice: Any) -> int:
    index = choice.get("index") if isinstance(choice, dict) else None
    return index if isinstance(index, int) else 0


def _completion(choice: Any) -> Completion:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise Malformed("a choice has no message")
    text, thought = _content(message.get("content"))
    finish = choice.get("finish_reason")
    finish = finish.lower() if isinstance(finish, str) else "unknown"
    reasoning = message.get("reasoning") or message.get("reasoning_content") or thought
    refusal = message.get("refusal")
    return Completion(
        text=text,
        finish_reason=_FINISH.get(finish, finish),
        reasoning=_clean(reasoning) if isinstance(reasoning, str) and reasoning else None,
        logprobs=_logprobs(choice.get("logprobs")),
        refusal=_clean(refusal) if isinstance(refusal, str) and refusal else None,
    )


def _content(content: Any) -> tuple[str, str]:
    """The answer's text and any reasoning in it: a string, nothing, or a list of typed parts."""
    if content is None:
        return "", ""
    if isinstance(content, str):
        return _clean(content), ""
    if not isinstance(content, list):
        raise Malformed(f"the content is a JSON {type(content).__name__}, not a text")
    texts, thoughts = [], []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part, dict) and part.get("type") in ("thinking", "reasoning"):
            inner = part.get("thinking") or part.get("reasoning") or ""
            thoughts.append(inner if isinstance(inner, str) else _content(inner)[0])
    return _clean("".join(texts)), "".join(thoughts)


def _clean(text: str) -> str:
    """Replace lone surrogates, which JSON can hold and no file can."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _logprobs(logprobs: Any) -> tuple[TokenLogprob, ...] | None:
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list):
        return None
    return tuple(_token(item) for item in content)


def _token(item: Any) -> TokenLogprob:
    if not isinstance(item, dict):
        raise Malformed("a token's log-probability is no object")
    top = item.get("top_logprobs")
    tops = tuple(_pair(entry) for entry in top) if isinstance(top, list) else ()
    token, logprob = _pair(item)
    return TokenLogprob(token, logprob, tops)


def _pair(item: Any) -> tuple[str, float]:
    token = item.get("token") if isinstance(item, dict) else None
    value = item.get("logprob") if isinstance(item, dict) else None
    if not isinstance(token, str) or isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise Malformed("a token has no log-probability that is a number")
    return _clean(token), min(0.0, float(value))


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    out, into = usage.get("completion_tokens_details"), usage.get("prompt_tokens_details")
    return Usage(
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        reasoning_tokens=_count(out.get("reasoning_tokens")) if isinstance(out, dict) else 0,
        cached_input_tokens=_count(into.get("cached_tokens")) if isinstance(into, dict) else 0,
    )


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        return 0
    return int(value)


def _money(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        return None
    return float(value)

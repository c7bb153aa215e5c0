"""Parse a chat-completions body into a Reply: tolerant of omissions, strict about nonsense.

The content of a message is a text, or typed parts of which only text parts belong to the answer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from creval.escape import without_surrogates
from creval.models.answers.finish_reasons import finish_reason
from creval.models.answers.flags import (
    EXTRA_ANSWERS,
    LOGPROBS_DROPPED,
    MALFORMED_ARGUMENTS,
    STRANGE_PARTS,
    UNKNOWN_FINISH_REASON,
)
from creval.types.messages import Completion, GenerateRequest, LostUsage, Reply, TokenLogprob, Usage
from creval.types.tools import ToolCall

__all__ = ["Content", "MalformedReplyError", "paid_for", "read_reply"]


_TEXT_TYPES = frozenset({"text", "output_text"})

_REASONING_TYPES = ("reasoning", "thinking", "thought", "summary_text")

_REASONING_FIELDS = ("reasoning", "reasoning_content", "reasoning_text", "thinking", "thought", "summary", "text")

_TOOL_TYPES = ("tool", "function", "server_tool", "mcp")

_MESSAGE_FIELDS = ("reasoning", "reasoning_content", "reasoning_text", "thinking", "thoughts")

_MESSAGE_PARTS = ("reasoning_details", "thinking_blocks", "reasoning", "reasoning_content", "thinking")

_REASONING_KEYS = frozenset({*_MESSAGE_FIELDS, *_MESSAGE_PARTS})

_DEEPEST = 8


@dataclass(slots=True)
class Content:
    """The content of a message. `strange`: a part of unknown type was left out."""

    texts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    strange: bool = False


def read_content(content: Any) -> Content | None:
    """Read a message's content; None if it is neither a text, nor null, nor parts.

    Only parts of the types `text` and `output_text`, and parts without a type, join the answer. Reasoning is added to
    the reasoning, a refusal to the refusals; tool calls are dropped; every other part is left out and noted.
    """
    result = Content()
    if content is None:
        return result
    if isinstance(content, str):
        result.texts.append(content)
        return result
    parts = [content] if isinstance(content, Mapping) else content
    if not isinstance(parts, list):
        return None
    for part in parts:
        if isinstance(part, str):
            result.texts.append(part)
        elif isinstance(part, Mapping):
            _read_part(part, result)
        elif part is not None:
            result.strange = True
    return result


def _read_part(part: Mapping[str, Any], content: Content) -> None:
    kind = part.get("type")
    kind = kind.strip().lower().replace("-", "_") if isinstance(kind, str) else "" if kind is None else "?"
    if any(word in kind for word in _REASONING_TYPES) or (not kind and _is_thought(part)):
        content.reasoning.append(_inner_text(part))
    elif kind == "refusal":
        content.refusals.append(_inner_text(part.get("refusal") or part))
    elif kind in _TEXT_TYPES or (not kind and "text" in part):
        text = part.get("text")
        text = text.get("value") if isinstance(text, Mapping) else text
        if isinstance(text, str):
            content.texts.append(text)
        else:
            content.strange = content.strange or text is not None
    elif not kind.startswith(_TOOL_TYPES):
        content.strange = True


def _is_thought(part: Mapping[str, Any]) -> bool:
    """Return whether a part without a type is reasoning, by a mark (Gemini) or by name."""
    return part.get("thought") is True or (
        "text" not in part and any(isinstance(part.get(name), str | list) for name in _REASONING_FIELDS[:-2])
    )


def _inner_text(value: Any, depth: int = 0) -> str:
    """Return the text of a part, of parts within it, or of its reasoning fields."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        return "".join(_inner_text(item, depth + 1) for item in value)
    if isinstance(value, Mapping):
        return next((text for name in _REASONING_FIELDS if (text := _inner_text(value.get(name), depth + 1))), "")
    return ""


def reported_reasoning(message: Mapping[str, Any]) -> str:
    """Return the reasoning in a message next to its content, under the first of its names that is not empty."""
    if _REASONING_KEYS.isdisjoint(message):
        return ""
    for name in _MESSAGE_FIELDS:
        if isinstance(message.get(name), str) and message[name]:
            return str(message[name])
    return next((text for name in _MESSAGE_PARTS if (text := _inner_text(message.get(name)))), "")


class MalformedReplyError(ValueError):
    """The body is JSON but not a chat completion. The message says what is wrong with it."""


def read_reply(body: Any, latency: float, cost: float | None = None, request: GenerateRequest | None = None) -> Reply:
    """Read a parsed body, the answer to `request`. `cost` applies if the body reports none.

    Log-probabilities that are not finite, and those that were not requested, are left out. Raises
    MalformedReplyError.
    """
    if not isinstance(body, dict):
        raise MalformedReplyError(f"the reply is a JSON {type(body).__name__}, not an object")
    choices = body.get("choices")
    if not choices and _prompt_is_blocked(body):
        choices = [{"message": None, "finish_reason": "content_filter"}]
    if not isinstance(choices, list) or not choices:
        raise MalformedReplyError("the reply has no choices")
    reported = _reported_cost(body)
    ordered = choices if len(choices) == 1 else sorted(choices, key=_index)
    flags: list[str] = []
    if request is not None and len(ordered) > request.n:
        ordered = ordered[: request.n]
        flags.append(EXTRA_ANSWERS)
    needed = request is None or bool(request.settings.get("logprobs") or request.settings.get("top_logprobs"))
    completions = tuple(_completion(choice, needed, flags) for choice in ordered)
    if any(c.logprobs is None and needed and _has_logprobs(raw) for c, raw in zip(completions, ordered, strict=True)):
        flags.append(LOGPROBS_DROPPED)
    served = body.get("provider")
    model = body.get("model")
    return Reply(
        completions=completions,
        usage=_usage(body.get("usage")),
        cost=cost if reported is None else reported,
        latency=latency,
        model=without_surrogates(model) if isinstance(model, str) else None,
        served_by=without_surrogates(served) if isinstance(served, str) else None,
        flags=tuple(dict.fromkeys(flags)),
    )


def paid_for(body: Any) -> LostUsage | None:
    """Return the usage of an unusable reply, None if it reports nothing."""
    if not isinstance(body, dict):
        return None
    usage, cost = _usage(body.get("usage")), _reported_cost(body)
    return LostUsage(1, usage, cost) if usage != Usage() or cost else None


def _reported_cost(body: dict[str, Any]) -> float | None:
    """Return the price in US dollars that a router reports with its reply, None if it reports none.

    If the user's own upstream key paid, the router's fee and the upstream price are two numbers.
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


def _completion(choice: Any, logprobs: bool, flags: list[str]) -> Completion:
    """Read one choice; oddities are added to `flags`."""
    if not isinstance(choice, dict):
        raise MalformedReplyError("a choice has no message")
    finish, strange = finish_reason(choice.get("finish_reason"), _native_finish_reason(choice))
    message = choice.get("message")
    if message is None and finish in ("content_filter", "length", "error"):
        message = {}  # Azure and Gemini send none if the filter or the limit left nothing
    if not isinstance(message, dict):
        raise MalformedReplyError("a choice has no message")
    content = read_content(message.get("content"))
    if content is None:
        raise MalformedReplyError(f"the content is a JSON {type(message['content']).__name__}, not a text")
    flags += [UNKNOWN_FINISH_REASON] if strange else []
    flags += [STRANGE_PARTS] if content.strange else []
    text = without_surrogates("".join(content.texts))
    calls = _tool_calls(message)
    flags += [MALFORMED_ARGUMENTS] if any(call.values is None for call in calls) else []
    if finish == "stop" and not text.strip() and (message.get("tool_calls") or message.get("function_call")):
        finish = "tool_calls"
    reasoning = reported_reasoning(message) or "".join(content.reasoning)
    refusal = message.get("refusal")
    refusal = refusal if isinstance(refusal, str) and refusal else "".join(content.refusals)
    return Completion(
        text=text,
        finish_reason=finish,
        reasoning=without_surrogates(reasoning) if reasoning else None,
        logprobs=_logprobs(choice.get("logprobs")) if logprobs else None,
        refusal=without_surrogates(refusal) if refusal else None,
        tool_calls=calls,
    )


def _tool_calls(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """Return the tool calls in a message, also one in the older form `function_call`; invalid ones are left out.

    Arguments that a server sends as an object are written as JSON; a text is unchanged.
    """
    listed = message.get("tool_calls")
    if not listed and message.get("function_call"):
        listed = [{"function": message["function_call"]}]
    calls: list[ToolCall] = []
    for entry in listed if isinstance(listed, list) else ():
        function = entry.get("function") if isinstance(entry, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(function, dict) or not isinstance(name, str):
            continue
        arguments, listed_id = function.get("arguments"), entry.get("id")
        text = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
        call_id = listed_id if isinstance(listed_id, str) and listed_id else f"call_{len(calls)}"
        calls.append(ToolCall(without_surrogates(call_id), without_surrogates(name), without_surrogates(text)))
    return tuple(calls)


def _native_finish_reason(choice: dict[str, Any]) -> Any:
    """Return the finish reason of the server behind a router (OpenRouter) or a library (litellm), None without one."""
    extra = choice.get("provider_specific_fields")
    behind = extra.get("native_finish_reason") if isinstance(extra, dict) else None
    return choice.get("native_finish_reason") or behind


def _prompt_is_blocked(body: dict[str, Any]) -> bool:
    """Return whether a reply without choices says that a filter stopped the prompt (Gemini, Azure)."""
    feedback = body.get("promptFeedback") or body.get("prompt_feedback")
    if isinstance(feedback, dict) and (feedback.get("blockReason") or feedback.get("block_reason")):
        return True
    results = body.get("prompt_filter_results")
    for result in results if isinstance(results, list) else ():
        kinds = result.get("content_filter_results") if isinstance(result, dict) else None
        if isinstance(kinds, dict) and any(isinstance(e, dict) and e.get("filtered") is True for e in kinds.values()):
            return True
    return False


def _has_logprobs(choice: Any) -> bool:
    logprobs = choice.get("logprobs")
    return isinstance(logprobs, dict) and bool(logprobs.get("content"))


def _logprobs(logprobs: Any) -> tuple[TokenLogprob, ...] | None:
    """Return the log-probabilities of all tokens, None if any of them is not finite."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list):
        return None
    tokens = []
    for item in content:
        pair = _pair(item)
        if pair is None:
            return None
        top = item.get("top_logprobs")
        # An alternative without a probability carries no information.
        tops = tuple(alt for alt in map(_pair, top) if alt is not None) if isinstance(top, list) else ()
        tokens.append(TokenLogprob(*pair, tops))
    return tuple(tokens)


def _pair(item: Any) -> tuple[str, float] | None:
    token = item.get("token") if isinstance(item, dict) else None
    value = _finite(item.get("logprob")) if isinstance(item, dict) else None
    if not isinstance(token, str) or value is None:
        return None
    return without_surrogates(token), min(0.0, value)


def _finite(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


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

"""Requests to models, and their replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from creval.types.content import MediaPart, Part, TextPart
from creval.types.sample_key import Condition, SampleKey
from creval.types.tools import Tool, ToolCall

__all__ = ["Completion", "GenerateRequest", "LostUsage", "Message", "Origin", "Reply", "Role", "TokenLogprob", "Usage"]

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation: a text, or texts and media in parts.

    `tool_calls` are the assistant's calls; a message of the role `tool` answers the call `tool_call_id`.
    """

    role: Role
    content: str | tuple[Part, ...]
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        """The text; for a message in parts, the texts among them, separated by line breaks."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, TextPart))

    @property
    def media(self) -> Sequence[MediaPart]:
        """The images, audio and files."""
        return () if isinstance(self.content, str) else [p for p in self.content if isinstance(p, MediaPart)]

    @property
    def plain(self) -> bool:
        """Whether it has only a role and a text."""
        return type(self.content) is str and not self.tool_calls and self.tool_call_id is None

    def to_json(self) -> dict[str, Any]:
        """Return it as stored in a run folder: media by their digests."""
        content = self.content
        stored = content if isinstance(content, str) else [part.to_json() for part in content]
        data: dict[str, Any] = {"role": self.role, "content": stored}
        if self.tool_calls:
            data["tool_calls"] = [call.to_json() for call in self.tool_calls]
        if self.tool_call_id is not None:
            data["tool_call_id"] = self.tool_call_id
        return data


@dataclass(frozen=True, slots=True)
class Origin:
    """Which sample a call belongs to.

    `call` counts the calls of one role within the sample from 0. It is part of the cache key, so that a second repeat
    never gets the answer of the first. `doc` and `condition` are for providers that are not language models (baselines,
    replay); a language model only sees the messages. `identity`, if set, replaces sample, role and call in the key: a
    judge's question is the same whichever sample asks it.
    """

    key: SampleKey
    role: str = "target"
    call: int = 0
    doc: Mapping[str, Any] = field(default_factory=dict, compare=False)
    condition: Condition | None = field(default=None, compare=False)
    identity: tuple[str | int, ...] | None = None


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """One call to a model.

    `settings` are generation settings by their chat-completions names (`temperature`, `top_p`,
    `max_tokens`, `seed`, `stop`, `logprobs`, `top_logprobs`, `response_format`, ...). One call asks for `n`
    completions. `own_tags` are thinking tags (`creval.models.answers.thinking`) that the task uses for another purpose;
    with `keep_reasoning` no thinking is removed from the answers. With `by_reference` neither the messages nor
    quotations of them in an answer may be stored. `tools` are the tools that the model may call.
    """

    messages: tuple[Message, ...]
    settings: Mapping[str, Any]
    origin: Origin
    n: int = 1
    own_tags: frozenset[str] = frozenset()
    keep_reasoning: bool = False
    by_reference: bool = False
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A sampled token with its natural-log probability (<= 0).

    `top` holds the most probable tokens at this position with their log-probabilities, if `top_logprobs` was asked for.
    """

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer. `finish_reason` is the provider's word: `stop`, `length`, `content_filter`, ...

    `text` is empty, never None, if the provider sent nothing. `reasoning` is the provider's separate reasoning text, if
    any, and the thinking that was removed from the answer; `raw` is then the text as it was sent. `tool_calls` are the
    model's tool calls, in its order.
    """

    text: str
    finish_reason: str = "stop"
    reasoning: str | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    refusal: str | None = None
    raw: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `reasoning_tokens` are a part of `output_tokens`, `cached_input_tokens` of `input_tokens`."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cached_input_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.cached_input_tokens + other.cached_input_tokens,
        )


@dataclass(frozen=True, slots=True)
class LostUsage:
    """The usage of tries that were answered, and so paid for, but unusable. `cost` as in `Reply`."""

    tries: int
    usage: Usage = Usage()
    cost: float | None = None

    def __add__(self, other: LostUsage) -> LostUsage:
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return LostUsage(self.tries + other.tries, self.usage + other.usage, sum(known) if known else None)


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of one call.

    `cost` is in US dollars, None if no price is known. `latency` is the duration of the successful try in seconds.
    `served_by` names the provider that answered behind a router, `model` the model it reported. `flags` name oddities
    of the reply (`creval.models.answers.flags`). `lost` is the usage of earlier tries. `record` names the line of the
    run's ledger that holds the call (roles other than the target). `bought` says that an earlier attempt of the run
    paid for it (an answer of a batch).
    """

    completions: Sequence[Completion]
    usage: Usage = Usage()
    cost: float | None = None
    latency: float = 0.0
    model: str | None = None
    served_by: str | None = None
    attempts: int = 1
    cached: bool = False
    flags: tuple[str, ...] = ()
    lost: LostUsage | None = None
    record: str | None = field(default=None, compare=False)
    bought: bool = field(default=False, compare=False)

    @property
    def text(self) -> str:
        """Text of the first completion."""
        return self.completions[0].text if self.completions else ""

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the first completion."""
        return self.completions[0].tool_calls if self.completions else ()

    @property
    def message(self) -> Message:
        """The first completion as a message of the assistant, for the next call."""
        return Message("assistant", self.text, self.tool_calls)

    @property
    def lack(self) -> str | None:
        """Why the first completion is not a complete answer (cut at the token limit, declined or empty), or None."""
        first = self.completions[0] if self.completions else Completion("")
        if first.refusal or first.finish_reason == "content_filter":
            return "the model declined to answer"
        if first.finish_reason == "length":
            return "the answer was cut at the token limit (max_tokens)"
        return None if first.text.strip() or first.tool_calls else "the answer is empty"

"""The chat-completions provider: one lean client for every server that speaks the protocol.

A reply that arrives as a stream of events is joined into the equivalent single body.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from creval.errors import ModelError, RetryableModelError
from creval.exact_json import quick_loads
from creval.models.model_options import ProviderOptions
from creval.models.provider_traits import ProviderTraits
from creval.models.providers.addresses import shown_address
from creval.models.providers.chat_reply import MalformedReplyError, paid_for, read_reply
from creval.models.providers.chat_request import exclusive_settings, request_body
from creval.models.providers.endpoints import ENDPOINTS, Endpoint, is_hosted, locate, proxy_for
from creval.models.providers.failures import (
    Caller,
    Failure,
    declined,
    error_of,
    explain,
    failure_in,
    plain_text,
    with_request_settings,
)
from creval.models.providers.http_messages import HttpCall, HttpReply
from creval.models.secrets import redact
from creval.types.messages import Completion, GenerateRequest, Reply

if TYPE_CHECKING:
    from creval.models.providers.http_client import HttpClient

__all__ = ["ChatProvider", "chat", "hosted_vllm", "ollama_chat", "openai", "openrouter", "parse_body"]


_TEXTS = frozenset({"content", "reasoning", "reasoning_content", "reasoning_text", "thinking", "refusal"})

_FIRST = (b"data:", b"event:", b"id:", b"retry:", b":")

_BOM = b"\xef\xbb\xbf"


def parse_body(content_type: str, data: bytes) -> Any:
    """Return the JSON of a body: one value, a stream of events, or one object per line. Raises ValueError."""
    if is_stream(content_type, data):
        return whole_body(data)
    try:
        body = quick_loads(data)
        return json.loads(data) if body is None else body
    except ValueError:
        lines = data.decode("utf-8", "replace").strip().split("\n")
        if len(lines) < 2 or not all(line.startswith("{") for line in lines if line.strip()):
            raise
        return _joined_body(line for line in lines if line.strip())


def is_stream(content_type: str, data: bytes) -> bool:
    """Return whether a body is a stream of server-sent events, by its type or its beginning."""
    return "event-stream" in content_type or data[:16].removeprefix(_BOM).lstrip()[:8].startswith(_FIRST)


def whole_body(data: bytes) -> dict[str, Any]:
    """Return the body of a chat completion joined from events. Raises ValueError if an event is not a JSON object.

    An interrupted stream has choices without a finish reason; an error among the events becomes the body's error.
    """
    return _joined_body(_events(data.decode("utf-8-sig", "replace")))


def _joined_body(events: Iterator[str]) -> dict[str, Any]:
    body: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for text in events:
        if text.strip() == "[DONE]":
            break
        event = json.loads(text)
        if not isinstance(event, dict):
            raise ValueError("an event is not a JSON object")
        body.update({name: value for name, value in event.items() if name != "choices" and value is not None})
        parts = event.get("choices")
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                _add(choices, part)
    for choice in choices.values():
        _join(choice["message"])
    return {**body, "choices": [choices[index] for index in sorted(choices)]}


def _events(text: str) -> Iterator[str]:
    """Yield the data of each event; comments and other fields are skipped."""
    lines: list[str] = []
    for line in [*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif not line.strip() and lines:
            yield from _data(lines)
            lines = []


def _data(lines: list[str]) -> Iterator[str]:
    """Yield the joined lines of one event, or each line if the server omitted the blank lines between events."""
    joined = "\n".join(lines)
    try:
        json.loads(joined)
    except ValueError:
        yield from lines
    else:
        yield joined


def _join(message: dict[str, Any]) -> None:
    for name in _TEXTS:
        parts = message.get(name)
        if isinstance(parts, list) and all(isinstance(part, str) for part in parts):
            message[name] = "".join(parts)
    if isinstance(message.get("tool_calls"), list):
        message["tool_calls"] = _joined_calls(message["tool_calls"])


def _joined_calls(pieces: list[Any]) -> list[Any]:
    """Return the tool calls joined from streamed pieces; pieces with one index belong together."""
    calls: dict[Any, dict[str, Any]] = {}
    for piece in pieces:
        if not isinstance(piece, dict):
            continue
        index = piece.get("index")
        call = calls.setdefault(len(calls) if index is None else ("at", str(index)), {"function": {}})
        call.update({name: value for name, value in piece.items() if name != "function" and value})
        function, delta = call["function"], piece.get("function")
        for name, value in (delta if isinstance(delta, dict) else {}).items():
            known = function.get(name)
            joins = name == "arguments" and isinstance(known, str) and isinstance(value, str)
            function[name] = known + value if joins else value or known
    return list(calls.values())


def _add(choices: dict[int, dict[str, Any]], part: dict[str, Any]) -> None:
    index = part.get("index")
    index = index if isinstance(index, int) else 0
    choice = choices.setdefault(index, {"index": index, "message": {}, "finish_reason": None})
    delta, message = part.get("delta"), part.get("message")
    if isinstance(message, dict) and message.get("content"):  # the whole content, also after pieces of it
        choice["message"] = dict(message)
    elif isinstance(delta, dict):
        _add_delta(choice["message"], delta)
    for name in ("finish_reason", "native_finish_reason"):
        if part.get(name) is not None:
            choice[name] = part[name]
    if part.get("error"):
        choice["error"] = part["error"]
    logprobs = part.get("logprobs")
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    if isinstance(tokens, list):
        choice.setdefault("logprobs", {"content": []})["content"] += tokens


def _add_delta(message: dict[str, Any], delta: dict[str, Any]) -> None:
    for name, value in delta.items():
        known = message.get(name)
        if name in _TEXTS and isinstance(value, str):
            if isinstance(known, list):
                known.append(value)
            elif not isinstance(known, str) or not known:
                message[name] = [value]
            else:
                message[name] = [known, value]
        elif isinstance(value, list) and isinstance(message.setdefault(name, []), list):
            message[name] += value
        elif value is not None:
            message[name] = value


_CHAT = "/chat/completions"

_JSON = {"Content-Type": "application/json"}

_STREAM_ONLY = r"(?i)\b(?:only|must|requires?|needs?)\b.{0,40}\bstream|\bstream.{0,40}\b(?:must be|only|required)\b"
"""The message of a server that answers only as a stream."""

_STREAMED: Mapping[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}


class ChatProvider:
    """A `Provider` over POST {base_url}/chat/completions. It has one session, and reuses its connections.

    `generate` makes one try and raises RetryableModelError or FatalModelError. If the provider's content filter
    stops a question, it returns a refusal.
    """

    def __init__(self, endpoint: Endpoint, model: str, options: ProviderOptions) -> None:
        self._model = model
        self._options = options
        self._address = locate(endpoint, model, options)
        self._url = self._address.address(_CHAT)
        where = f"{endpoint.name}/{model} at {shown_address(self._url)}"
        self._caller = Caller(where, model, self._address.key_name, self._address.secrets)
        self._client: HttpClient | None = None
        self._also: Mapping[str, Any] = {}
        self.secrets = tuple(secret for secret in self._address.secrets if secret)
        self.traits = ProviderTraits(
            honours_n=endpoint.honours_n,
            base_url=shown_address(self._address.address("")),
            prices=endpoint.prices and (endpoint.reports_cost or is_hosted(self._address.base_url)),
            reports_cost=endpoint.reports_cost,
            free=self._address.loopback and not endpoint.reports_cost,
            continues=endpoint.continues is not None,
            exclusive=exclusive_settings(model),
        )

    async def generate(self, request: GenerateRequest) -> Reply:
        """Make one call."""
        body = self.body(request, self._also)
        start = perf_counter()
        answer = await self.call("POST", self._url, body=body, headers=_JSON)
        latency = perf_counter() - start
        if answer.status != 200:
            failure = error_of(answer.status, answer.text, answer.headers)
            self._learn(failure)
            return self.refused(failure, request)
        return self._read_body(answer, latency, request)

    def body(self, request: GenerateRequest, also: Mapping[str, Any] | None = None) -> bytes:
        """Return the JSON body of a request, with the members `also`."""
        endpoint, also = self._address.endpoint, also or {}
        if endpoint.continues and request.messages and request.messages[-1].role == "assistant":
            also = {**also, **endpoint.continues}
        return request_body(self._model, endpoint.name, request, also)

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @property
    def endpoint(self) -> Endpoint:
        """Return the endpoint of the provider."""
        return self._address.endpoint

    @property
    def model(self) -> str:
        """Return the server's name of the model."""
        return self._model

    @property
    def base_url(self) -> str:
        """Return the base URL of calls."""
        return self._address.base_url

    def address(self, path: str, above: str = "") -> str:
        """Return the full address of a path below the base URL, or next to its last part `above`."""
        root = self._address.base_url.removesuffix(above)
        return replace(self._address, base_url=root).address(path)

    @property
    def caller(self) -> Caller:
        """Return the caller, for the wording of errors."""
        return self._caller

    async def call(self, method: str, path: str, **parts: Any) -> HttpReply:
        """Make an HTTP call below the base URL or to a full address. Raises ModelError if no complete answer arrived.

        `parts` are the other fields of HttpCall.
        """
        client = self._client or self._open()
        url = path if "://" in path else self._address.address(path)
        return await client.send(HttpCall(method, url, **parts))

    def _open(self) -> HttpClient:
        """Create the client; within the event loop, so not before the first call."""
        from creval.models.providers.http_client import HttpClient
        from creval.models.providers.http_settings import HttpLimits

        headers = {"Accept": "application/json"}
        if self._address.key:
            headers["Authorization"] = f"Bearer {self._address.key}"
        limits = HttpLimits(self._options.timeout, self._options.max_response_bytes)
        self._client = HttpClient(self._caller, limits, headers, proxy_for(self._url))
        return self._client

    def _read_body(self, answer: HttpReply, latency: float, request: GenerateRequest) -> Reply:
        try:
            body = parse_body(answer.content_type, answer.body)
        except (ValueError, RecursionError):
            words = redact(plain_text(answer.body[:2000].decode("utf-8", "replace")), self._caller.keys)[:200]
            raise RetryableModelError(
                f"the reply is not JSON: {words or 'nothing'}", where=self._caller.where
            ) from None
        return self.reply(body, request, latency)

    def reply(self, body: Any, request: GenerateRequest, latency: float = 0.0) -> Reply:
        """Read a body of status 200. Raises ModelError, with its usage, if it is unusable."""
        error = _error_within(body)
        try:
            if error is not None:
                reply = self.refused(failure_in(error, None), request)
                lost = paid_for(body)
                return replace(reply, usage=lost.usage, cost=lost.cost) if lost else reply
            return read_reply(body, latency, 0.0 if self.traits.free else None, request)
        except (MalformedReplyError, RecursionError) as problem:
            fault = RetryableModelError(str(problem), where=self._caller.where)
            fault.lost = paid_for(body)
            raise fault from None
        except ModelError as fault:
            fault.lost = paid_for(body)
            raise

    def _learn(self, failure: Failure) -> None:
        """Stream the next try if the server says that it only answers as a stream."""
        if failure.status not in (400, 422):
            return
        if "stream" not in self._also and re.search(_STREAM_ONLY, failure.message):
            self._also = _STREAMED
        elif "stream_options" in self._also and "stream_options" in f"{failure.message} {failure.param}":
            self._also = {"stream": True}
        else:
            return
        what = "the server answers only as a stream"
        raise RetryableModelError(what, where=self._caller.where, http_status=failure.status, retry_after=0.0)

    def refused(self, failure: Failure, request: GenerateRequest) -> Reply:
        """Return the refusal of a question that the content filter stopped; raises ModelError for any other failure."""
        if declined(failure):
            words = redact(failure.message, self._caller.keys)
            return Reply((Completion("", finish_reason="content_filter", refusal=words),), cost=None)
        raise explain(with_request_settings(failure, request), self._caller)


def _error_within(body: Any) -> Any:
    """Return the error that a router put into a reply of status 200, or into one of its choices, or None."""
    if isinstance(body, list) and len(body) == 1:  # Gemini wraps an error in a list
        body = body[0]
    if not isinstance(body, dict):
        return None
    if body.get("error"):
        return body["error"]
    choices = body.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and (choice.get("error") or choice.get("finish_reason") == "error"):
            return choice.get("error") or {"message": "the answer broke off with an error"}
    return None


def openrouter(model: str, options: ProviderOptions) -> ChatProvider:
    """Component `openrouter`."""
    return ChatProvider(ENDPOINTS["openrouter"], model, options)


def ollama_chat(model: str, options: ProviderOptions) -> ChatProvider:
    """Component `ollama_chat`: Ollama's own chat-completions address."""
    return ChatProvider(ENDPOINTS["ollama_chat"], model, options)


def openai(model: str, options: ProviderOptions) -> ChatProvider:
    """Component `openai`."""
    return ChatProvider(ENDPOINTS["openai"], model, options)


def hosted_vllm(model: str, options: ProviderOptions) -> ChatProvider:
    """Component `hosted_vllm`."""
    return ChatProvider(ENDPOINTS["hosted_vllm"], model, options)


def chat(model: str, options: ProviderOptions) -> ChatProvider:
    """Component `chat`: any server at `--base-url`."""
    return ChatProvider(ENDPOINTS["chat"], model, options)

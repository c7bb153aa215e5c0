"""The chat-completions lane: one lean client for every server that speaks the protocol."""

from __future__ import annotations

import asyncio
import json
from time import perf_counter, time
from typing import TYPE_CHECKING, Any

from creval.errors import FatalModelError, ModelError, RetryableModelError
from creval.models.lanes.addresses import shown_address
from creval.models.lanes.chat_reply import Malformed, read_reply
from creval.models.lanes.chat_request import request_body
from creval.models.lanes.endpoints import ENDPOINTS, Endpoint, has_proxy, place
from creval.models.lanes.faults import Caller, Failure, declined, error_of, explain, failure_in, plain_text
from creval.models.options import ProviderOptions
from creval.models.secrets import redact
from creval.models.traits import ProviderTraits
from creval.types.messages import Completion, GenerateRequest, Reply

if TYPE_CHECKING:
    import aiohttp

__all__ = ["ChatLane", "chat", "hosted_vllm", "ollama_chat", "openai", "openrouter"]

_CONNECT_SECONDS = 30.0


class ChatLane:
    """A `Provider` over POST {base_url}/chat/completions. One session, its connections kept and reused.

    `generate` makes one try and raises RetryableModelError or FatalModelError. A question that the provider's
    content filter stops comes back as a refusal.
    """

    def __init__(self, endpoint: Endpoint, model: str, options: ProviderOptions) -> None:
        self._model = model
        self._options = options
        self._place = place(endpoint, model, options)
        self._url = self._place.address("/chat/completions")
        where = f"{endpoint.name}/{model} at {shown_address(self._url)}"
        self._caller = Caller(where, model, self._place.key_name, self._place.secrets)
        self._session: aiohttp.ClientSession | None = None
        self.traits = ProviderTraits(
            honours_n=endpoint.honours_n,
            base_url=shown_address(self._place.address("")),
            prices=endpoint.prices and (endpoint.reports_cost or not self._place.loopback),
            reports_cost=endpoint.reports_cost,
            free=self._place.loopback and not endpoint.reports_cost,
        )

    async def generate(self, request: GenerateRequest) -> Reply:
        """Make one call."""
        body = request_body(self._model, self._place.endpoint.name, request)
        start = perf_counter()
        status, headers, data = await self._post(body)
        latency = perf_counter() - start
        if status != 200:
            return self._failed(error_of(status, data.decode("utf-8", "replace"), headers))
        return self._read(data, latency)

    async def close(self) -> None:
        """Close the connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _post(self, body: bytes) -> tuple[int, Any, bytes]:
        import aiohttp

        session = self._session or self._open()
        try:
            async with session.post(self._url, data=body, allow_redirects=False) as response:
                return response.status, response.headers, await self._bounded(response)
        except TimeoutError:
            raise RetryableModelError(
                f"no answer within {self._options.timeout:g} s", where=self._caller.where
            ) from None
        except (aiohttp.InvalidURL, aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError) as error:
            raise self._unreachable(error, FatalModelError) from None
        except (aiohttp.ClientError, OSError, asyncio.IncompleteReadError) as error:
            raise self._unreachable(error, RetryableModelError) from None

    def _open(self) -> aiohttp.ClientSession:
        """Make the session; within the event loop, so not before the first call."""
        import aiohttp

        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._place.key:
            headers["Authorization"] = f"Bearer {self._place.key}"
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, keepalive_timeout=60),
            timeout=aiohttp.ClientTimeout(total=self._options.timeout, sock_connect=_CONNECT_SECONDS),
            headers=headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=has_proxy(self._url),
        )
        return self._session

    async def _bounded(self, response: aiohttp.ClientResponse) -> bytes:
        """Read the body, which may be no longer than the limit once unpacked."""
        limit = self._options.max_response_bytes
        chunks: list[bytes] = []
        size = 0
        while chunk := await response.content.readany():
            size += len(chunk)
            if size > limit:
                response.close()
                raise RetryableModelError(f"the reply is longer than {limit} bytes", where=self._caller.where)
            chunks.append(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _read(self, data: bytes, latency: float) -> Reply:
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            words = redact(plain_text(data[:2000].decode("utf-8", "replace")), self._caller.keys)[:200]
            raise RetryableModelError(f"the reply is no JSON: {words or 'nothing'}", where=self._caller.where) from None
        error = _error_within(body)
        if error is not None:
            return self._failed(failure_in(error, None))
        try:
            return read_reply(body, latency, 0.0 if self.traits.free else None)
        except Malformed as problem:
            raise RetryableModelError(str(problem), where=self._caller.where) from None

    def _failed(self, failure: Failure) -> Reply:
        if declined(failure):
            words = redact(failure.message, self._caller.keys)
            return Reply((Completion("", finish_reason="content_filter", refusal=words),), cost=None)
        raise explain(failure, self._caller, time())

    def _unreachable(self, error: Exception, kind: type[ModelError]) -> ModelError:
        said = str(error).replace(" ssl:default ", " ")  # aiohttp names its TLS setting even where there is no TLS
        words = redact(said or type(error).__name__, self._caller.keys)
        return kind(
            f"the connection failed: {words}",
            where=self._caller.where,
            cure="Check that the server runs and that the base URL is right.",
        )


def _error_within(body: Any) -> Any:
    """The error that a router put into a reply of status 200, None where there is none."""
    if not isinstance(body, dict):
        return None
    if body.get("error") and not body.get("choices"):
        return body["error"]
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(first, dict) and (first.get("error") or first.get("finish_reason") == "error"):
        return first.get("error") or {"message": "the answer broke off with an error"}
    return None


def openrouter(model: str, options: ProviderOptions) -> ChatLane:
    """Component `openrouter`."""
    return ChatLane(ENDPOINTS["openrouter"], model, options)


def openai(model: str, options: ProviderOptions) -> ChatLane:
    """Component `openai`."""
    return ChatLane(ENDPOINTS["openai"], model, options)


def hosted_vllm(model: str, options: ProviderOptions) -> ChatLane:
    """Component `hosted_vllm`."""
    return ChatLane(ENDPOINTS["hosted_vllm"], model, options)


def ollama_chat(model: str, options: ProviderOptions) -> ChatLane:
    """Component `ollama_chat`: Ollama's own chat-completions address."""
    return ChatLane(ENDPOINTS["ollama_chat"], model, options)


def chat(model: str, options: ProviderOptions) -> ChatLane:
    """Component `chat`: any server at `--base-url`."""
    return ChatLane(ENDPOINTS["chat"], model, options)

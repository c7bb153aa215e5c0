"""Every other provider, through litellm: imported in a thread on first use, with its own features switched off."""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from time import perf_counter, time
from types import ModuleType
from typing import Any

from creval.plugin import Completion, MissingPartError, ModelError, Reply, UsageError
from creval.plugin.clients import (
    Caller,
    Failure,
    MalformedReplyError,
    address_secrets,
    chat_message,
    chat_tools,
    check_chat,
    declined,
    exclusive_settings,
    explain,
    failure_in,
    find_key,
    is_loopback,
    missing_key,
    paid_for,
    read_reply,
    redact,
    requested_wait,
    secret_variables,
    shown_address,
    with_request_settings,
)
from creval.plugin.models import FatalModelError, GenerateRequest, ProviderOptions, ProviderTraits, RetryableModelError

__all__ = ["LitellmProvider", "litellm"]

# litellm reads these. The first keeps it from fetching prices over the network; the second selects its own HTTP handler
# instead of the openai package, which makes a call a third cheaper.
_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER": "true",
}


class LitellmProvider:
    """A `Provider` that calls `litellm.acompletion`, once per try: litellm's own retries are off.

    The import (seconds) starts in a thread as soon as the provider is made, so that it runs while data load.
    """

    def __init__(self, model: str, options: ProviderOptions) -> None:
        vendor, slash, rest = model.partition("/")
        if not slash or not rest:
            raise UsageError(f"litellm/{model} names no provider", fix=f"Write litellm/<provider>/{model}.")
        if options.offline and not (options.base_url and is_loopback(options.base_url)):
            raise UsageError(
                f"the model {model!r} is on the network, and --offline forbids it",
                fix="Leave out --offline, or use a model on this machine.",
            )
        self._model = model
        self.vendor, self.model = vendor, rest
        self._options = options
        self._key = find_key((options.api_key_env,)) if options.api_key_env else None
        if options.api_key_env and self._key is None:
            raise missing_key(model, options.api_key_env)
        self._secrets = (self._key, *address_secrets(options.base_url))
        self._caller = Caller(f"{model} through litellm", rest, options.api_key_env, self._secrets)
        self._checked = False
        self.secrets = tuple(secret for secret in (*self._secrets, *_own_keys(vendor)) if secret)
        shown = shown_address(options.base_url) if options.base_url else None
        self.traits = ProviderTraits(
            base_url=shown, honours_n=vendor in ("openai", "azure"), prices=True, exclusive=exclusive_settings(model)
        )
        self._module: Future[ModuleType] = Future()
        threading.Thread(target=self._import, name="creval-litellm", daemon=True).start()

    @property
    def caller(self) -> Caller:
        """Return the caller, for the wording of errors."""
        return self._caller

    async def generate(self, request: GenerateRequest) -> Reply:
        """Make one call."""
        litellm = await self._litellm()
        start = perf_counter()
        try:
            async with asyncio.timeout(self._options.timeout):
                response = await litellm.acompletion(**self._arguments(request))
        except TimeoutError:
            what = f"no answer within {self._options.timeout:g} s"
            raise RetryableModelError(what, where=self._caller.where) from None
        except Exception as error:
            return self._failed(error, request)
        return self._read(response, perf_counter() - start, request)

    async def batch_call(self, name: str, **given: Any) -> Any:
        """Make one of litellm's file and batch calls. Raises ModelError."""
        litellm = await self._litellm()
        more: dict[str, Any] = {"timeout": self._options.timeout, "max_retries": 0}
        more |= {"api_base": self._options.base_url} if self._options.base_url else {}
        more |= {"api_key": self._key} if self._key else {}
        try:
            return await getattr(litellm, name)(custom_llm_provider=self.vendor, **more, **given)
        except TimeoutError:
            what = f"no answer within {self._options.timeout:g} s"
            raise RetryableModelError(what, where=self._caller.where) from None
        except Exception as error:
            raise self._explained(error) from None

    async def _litellm(self) -> ModuleType:
        litellm = await asyncio.wrap_future(self._module) if not self._checked else self._module.result()
        if not self._checked:
            self._check(litellm)
        return litellm

    def check(self) -> None:
        """Import litellm, and raise UsageError for a model that it does not know, MissingPartError without its key."""
        self._check(self._module.result())

    async def close(self) -> None:
        """Close the connections that litellm holds."""
        if self._module.done() and not self._module.exception():
            closing = getattr(self._module.result(), "close_litellm_async_clients", None)
            if closing is not None:
                await closing()

    def _import(self) -> None:
        try:
            for name, value in _ENVIRONMENT.items():
                os.environ.setdefault(name, value)
            import litellm
        except ImportError as error:
            missing = MissingPartError(f"litellm cannot be imported: {error}", fix="Install it: pip install litellm")
            self._module.set_exception(missing)
        except BaseException as error:
            self._module.set_exception(error)
        else:
            litellm.telemetry = False
            litellm.suppress_debug_info = True
            litellm.drop_params = False
            litellm.num_retries = 0
            for callbacks in ("callbacks", "input_callback", "success_callback", "failure_callback"):
                setattr(litellm, callbacks, [])
            self._module.set_result(litellm)

    def _check(self, litellm: ModuleType) -> None:
        """Check that litellm has this provider, and the environment its key."""
        try:
            litellm.get_llm_provider(model=self._model)
            found: Mapping[str, Any] = litellm.validate_environment(model=self._model, api_base=self._options.base_url)
        except Exception as error:
            words = redact(str(error), self._secrets).split("\n")[0][:300]
            raise UsageError(f"litellm does not know the model {self._model!r}: {words}") from None
        missing = found.get("missing_keys") or []
        if missing and not found.get("keys_in_environment") and not self._key and not self._options.base_url:
            raise missing_key(self._model, str(missing[0]))
        self._register(litellm)
        self._checked = True

    def _register(self, litellm: ModuleType) -> None:
        """Give litellm an entry for a model that its table lacks: without one each call searches the table.

        The price in it is never read (costs come from `PriceTable`), but must not be 0, which starts a diagnosis.
        """
        vendor, _, rest = self._model.partition("/")
        if self._model not in litellm.model_cost and rest not in litellm.model_cost:
            price = {"input_cost_per_token": 1e-12, "output_cost_per_token": 1e-12}
            entry = {**price, "litellm_provider": vendor, "mode": "chat"}
            litellm.register_model({self._model: entry, rest: entry})

    def _arguments(self, request: GenerateRequest) -> dict[str, Any]:
        check_chat(request)
        arguments = {name: value for name, value in request.settings.items() if value is not None}
        arguments.update(
            model=self._model,
            messages=[chat_message(message) for message in request.messages],
            timeout=self._options.timeout,
            max_retries=0,
            num_retries=0,
        )
        if request.tools:
            arguments["tools"] = chat_tools(request.tools)
        if request.n > 1:
            arguments["n"] = request.n
        if "top_logprobs" in arguments:
            arguments.setdefault("logprobs", True)
        if self._options.base_url:
            arguments["api_base"] = self._options.base_url
        if self._key:
            arguments["api_key"] = self._key
        return arguments

    def reply(self, body: Any, request: GenerateRequest, latency: float = 0.0) -> Reply:
        """Read the body of an answer. Raises RetryableModelError, with its usage, if it is invalid."""
        try:
            return read_reply(body, latency, request=request)
        except (MalformedReplyError, RecursionError) as problem:
            fault = RetryableModelError(str(problem), where=self._caller.where)
            fault.lost = paid_for(body)
            raise fault from None

    def refused(self, failure: Failure, said: str = "") -> Reply:
        """Return the refusal of a question that the content filter stopped; raises ModelError for any other failure."""
        if declined(failure) or said == "ContentPolicyViolationError":
            words = redact(failure.message, self._secrets)
            return Reply((Completion("", finish_reason="content_filter", refusal=words),))
        raise explain(failure, self._caller)

    def _read(self, response: Any, latency: float, request: GenerateRequest) -> Reply:
        try:
            body = response.model_dump()
        except (AttributeError, RecursionError) as problem:
            raise RetryableModelError(str(problem), where=self._caller.where) from None
        reply = self.reply(body, request, latency)
        served = getattr(response, "provider", None)
        return replace(reply, served_by=served) if isinstance(served, str) else reply

    def _failed(self, error: Exception, request: GenerateRequest) -> Reply:
        """Judge one of litellm's exceptions by its status, like a server's response."""
        try:
            return self.refused(with_request_settings(self._failure(error), request), type(error).__name__)
        except ModelError as judged:
            raise judged from None

    def _explained(self, error: Exception) -> ModelError:
        try:
            return explain(self._failure(error), self._caller)
        except ModelError as judged:
            return judged

    def _failure(self, error: Exception) -> Failure:
        """Raise FatalModelError for an error inside litellm instead of a failed call."""
        status = getattr(error, "status_code", None)
        status = status if isinstance(status, int) else None
        if status is None and not type(error).__module__.startswith(("litellm", "openai", "httpx", "aiohttp")):
            words = redact(f"{type(error).__name__}: {error}", self._secrets)[:300]
            raise FatalModelError(f"litellm failed: {words}", where=self._caller.where)
        return _failure(error, status)


def _own_keys(vendor: str) -> list[str]:
    """Return the environment's keys that litellm may send to a vendor: those whose name begins with the vendor's."""
    start = re.sub(r"[^a-z0-9]", "_", vendor.lower())
    families = {"gemini": "google", "vertex_ai": "google", "bedrock": "aws", "sagemaker": "aws"}
    starts = (start, families.get(start, start), start.partition("_")[0])
    return [value for name, value in secret_variables().items() if name.lower().startswith(starts)]


def _failure(error: Exception, status: int | None) -> Failure:
    """Extract the server's error object from litellm's message, or else use the exception's text."""
    message = str(getattr(error, "message", error))
    headers = _headers(error)
    start = message.find("{")
    if start >= 0:
        try:
            body, _ = json.JSONDecoder().raw_decode(message, start)
        except (ValueError, RecursionError):
            body = None
        inner = body.get("error") if isinstance(body, dict) else None
        if isinstance(inner, dict):
            return replace(failure_in(inner, status, headers, body), status=status)
    return Failure(
        status,
        " ".join(message.split()),
        code=f"{getattr(error, 'code', '') or ''} {type(error).__name__}".lower(),
        param=str(getattr(error, "param", "") or ""),
        wait=requested_wait(headers, message, time(), status == 429),
    )


def _headers(error: Exception) -> Mapping[str, Any]:
    """Return the server's headers. litellm puts them on the exception; `response` has them with one handler only."""
    response = getattr(error, "response", None)
    found: dict[str, Any] = {}
    for headers in (getattr(response, "headers", None), getattr(error, "litellm_response_headers", None)):
        if headers is not None:
            found |= {str(name).lower().removeprefix("llm_provider-"): headers[name] for name in headers}
    return found


def litellm(model: str, options: ProviderOptions) -> LitellmProvider:
    """Component `litellm`: `model` is litellm's own name, including the provider."""
    return LitellmProvider(model, options)

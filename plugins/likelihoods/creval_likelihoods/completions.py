"""Log-likelihoods over the completions protocol: the server echoes the prompt (`echo`) with its token probabilities.

One request contains all texts of a call. vLLM's own `prompt_logprobs` are used if present.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from creval.plugin import Completion, Reply, TokenLogprob, UsageError, counted
from creval.plugin.completions import (
    BARE,
    CONTEXT_CUT,
    ENDPOINTS,
    FIRST_TOKEN,
    ChatProvider,
    Endpoint,
    LostUsage,
    error_of,
    explain,
    failure_in,
    is_hosted,
    paid_for,
    parse_body,
    with_request_settings,
)
from creval.plugin.likelihoods import LoglikelihoodCall
from creval.plugin.models import FatalModelError, GenerateRequest, ProviderOptions, RetryableModelError
from creval_likelihoods.likelihood_tokens import Piece, ServerTokenizer, split_texts

__all__ = ["CompletionsProvider", "chat", "hosted_vllm", "openai", "prompt_tokens"]

_PATH = "/completions"
_JSON = {"Content-Type": "application/json"}
_AT_ONCE = 16
"""Number of prompts in one request."""
_OWN = frozenset({"context_length", "prefix"})
_ECHOING_OPENAI = frozenset({"babbage-002", "davinci-002"})
_SERVERS = "Use a server that sends them: vLLM or SGLang do (docs/models.md)."

Tokens = Sequence[TokenLogprob | None]
"""The tokens of a prompt, None for one without a probability (the first)."""


class CompletionsProvider(ChatProvider):
    """A chat-completions provider whose server also gives log-likelihoods over POST {base_url}/completions."""

    def __init__(self, endpoint: Endpoint, model: str, options: ProviderOptions) -> None:
        super().__init__(endpoint, model, options)
        self._looking = asyncio.Lock()
        self._tokenizer: tuple[ServerTokenizer | None] | None = None

    async def generate(self, request: GenerateRequest) -> Reply:
        """Make one call; with the setting `chat_template: none` the raw texts of the messages are continued."""
        if request.settings.get(BARE[0]) != BARE[1]:
            return await super().generate(request)
        settings = {name: value for name, value in request.settings.items() if value is not None and name != BARE[0]}
        if request.n > 1:
            settings["n"] = request.n
        text = "".join(message.text for message in request.messages)
        try:
            data = json.dumps({"model": self.model, "prompt": text, **settings}, allow_nan=False).encode()
        except (ValueError, TypeError) as error:
            raise UsageError(f"a generation setting cannot be sent as JSON: {error}") from None
        start = perf_counter()
        answer = await self.call("POST", _PATH, body=data, headers=_JSON)
        latency = perf_counter() - start
        if answer.status != 200:
            return self.refused(error_of(answer.status, answer.text, answer.headers), request)
        try:
            body = parse_body(answer.content_type, answer.body)
        except (ValueError, RecursionError):
            raise RetryableModelError("the reply is not JSON", where=self.caller.where) from None
        return self.reply(_as_chat(body), request, latency)

    async def loglikelihood(self, call: LoglikelihoodCall) -> Reply:
        """Make one try for all texts of a call."""
        start = perf_counter()
        tokenizer = await self._find_tokenizer()
        prefix = str(call.settings.get("prefix") or "")
        if tokenizer is None:
            pieces = [_as_text(place, *split_texts(each, prefix)) for place, each in enumerate(call.requests)]
        else:
            length = call.settings.get("context_length") or tokenizer.length
            room = None if length is None else int(length) - 1  # one token is generated
            make = tokenizer.pieces if call.output == "loglikelihood" else tokenizer.windows
            pieces = await make(call.requests, room, prefix)
        scored, paid, model = await self._scored(pieces, call)
        flags = [CONTEXT_CUT] if any(piece.shortened for piece in pieces) else []
        texts: list[list[TokenLogprob]] = [[] for _ in call.requests]
        for piece, tokens in zip(pieces, scored, strict=True):
            known = [token for token in tokens if token is not None]
            texts[piece.request] += known
            flags += [FIRST_TOKEN] if len(known) < len(tokens) and not _covers(known, piece.prompt) else []
        return Reply(
            tuple(Completion(r.continuation, logprobs=tuple(t)) for r, t in zip(call.requests, texts, strict=True)),
            usage=paid.usage,
            cost=0.0 if self.traits.free else paid.cost,
            latency=perf_counter() - start,
            model=model,
            flags=tuple(dict.fromkeys(flags)),
        )

    async def _find_tokenizer(self) -> ServerTokenizer | None:
        async with self._looking:
            if self._tokenizer is None:
                self._tokenizer = (await ServerTokenizer.find(self._root, self.model),)
        return self._tokenizer[0]

    async def _root(self, path: str, body: bytes | None) -> bytes | None:
        """Call a path of the server outside the protocol's /v1."""
        method = "GET" if body is None else "POST"
        address = self.address(path, above="/v1")
        answer = await self.call(method, address, body=body, headers=_JSON)
        return answer.body if answer.status == 200 else None

    async def _scored(
        self, pieces: Sequence[Piece], call: LoglikelihoodCall
    ) -> tuple[list[Tokens], LostUsage, str | None]:
        """Return, per piece, the tokens that count, then the spent usage, and the model name from the server."""
        contexts = list(dict.fromkeys(p.context for p in pieces if isinstance(p.context, str) and p.context))
        prompts = [*contexts, *(piece.prompt for piece in pieces)]
        read: list[Tokens] = []
        paid, model = LostUsage(1), None
        for start in range(0, len(prompts), _AT_ONCE):
            some = prompts[start : start + _AT_ONCE]
            body = await self._sent(some, call)
            read += self._tokens_of(body, some)
            took = paid_for(body) or LostUsage(1)
            paid = paid + took
            model = body.get("model")
        counts = {context: len(tokens) for context, tokens in zip(contexts, read, strict=False)}
        skips = [counts.get(p.context, 0) if isinstance(p.context, str) else p.context for p in pieces]
        scored = [tokens[skip:] for tokens, skip in zip(read[len(contexts) :], skips, strict=True)]
        return scored, paid, model if isinstance(model, str) else None

    async def _sent(self, prompts: Sequence[list[int] | str], call: LoglikelihoodCall) -> dict[str, Any]:
        """Send prompts and return the body. Raises ModelError."""
        asked: dict[str, Any] = {name: value for name, value in call.settings.items() if name not in _OWN}
        asked |= self.endpoint.likelihoods
        asked |= {
            "model": self.model,
            "prompt": prompts,
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": 1,
            "echo": True,
        }
        answer = await self.call("POST", _PATH, body=json.dumps(asked).encode(), headers=_JSON)
        where, status = self.caller.where, answer.status
        if status != 200:
            failure = error_of(status, answer.text, answer.headers)
            error = explain(with_request_settings(failure, call), self.caller)
            if isinstance(error, FatalModelError) and status in (404, 405, 501):
                error.fix = f"Log-likelihoods are requested at {_PATH}. Check the model's name. {_SERVERS}"
            elif isinstance(error, FatalModelError) and status in (400, 422) and _is_about_echo(error.what):
                error.fix, error.every_call = f"The server returns no log-probabilities of a prompt. {_SERVERS}", True
            raise error
        try:
            body = parse_body(answer.content_type, answer.body)
        except (ValueError, RecursionError):
            raise RetryableModelError("the reply is not JSON", where=where) from None
        if isinstance(body, dict) and body.get("error"):
            raise explain(with_request_settings(failure_in(body["error"], None), call), self.caller)
        choices = body.get("choices") if isinstance(body, dict) else None
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            raise RetryableModelError("the reply has no choices", where=where)
        return dict(body)

    def _tokens_of(self, body: Mapping[str, Any], prompts: Sequence[list[int] | str]) -> list[Tokens]:
        """Return the tokens of each prompt. Raises FatalModelError if the server sends none of them."""
        choices = sorted(body["choices"], key=lambda choice: choice.get("index") or 0)
        if len(choices) != len(prompts):
            what = f"the server sent {counted(len(choices), 'choices')} for {counted(len(prompts), 'prompts')}"
            raise FatalModelError(what, where=self.caller.where, fix=_SERVERS, every_call=True)
        usage = body.get("usage")
        generates = not isinstance(usage, dict) or usage.get("completion_tokens") != 0
        found = [prompt_tokens(choice, prompt, generates) for choice, prompt in zip(choices, prompts, strict=True)]
        if any(tokens is None for tokens in found):
            what = "the server sends no log-probabilities of the prompt"
            raise FatalModelError(what, where=self.caller.where, fix=_SERVERS, every_call=True)
        return [tokens for tokens in found if tokens is not None]


def _as_chat(body: Any) -> Any:
    """Return a body of the completions protocol in the form of the chat protocol, without log-probabilities."""
    if not isinstance(body, dict) or not isinstance(body.get("choices"), list):
        return body
    choices = [each for each in body["choices"] if isinstance(each, dict)]
    said = [{"role": "assistant", "content": each.get("text")} for each in choices]
    names = ("index", "finish_reason", "error")
    known = [{name: each[name] for name in names if name in each} for each in choices]
    return body | {"choices": [each | {"message": message} for each, message in zip(known, said, strict=True)]}


def _as_text(place: int, context: str, continuation: str) -> Piece:
    return Piece(place, context + continuation, context)


def _covers(tokens: Sequence[TokenLogprob], prompt: list[int] | str) -> bool:
    """Return whether tokens make up a whole text; a token without a probability was then added by the server."""
    return isinstance(prompt, str) and sum(len(token.token) for token in tokens) >= len(prompt)


def _is_about_echo(words: str) -> bool:
    return any(name in words.lower() for name in ("echo", "logprobs"))


def prompt_tokens(choice: Mapping[str, Any], prompt: list[int] | str, generates: bool = True) -> Tokens | None:
    """Return the tokens of a prompt from one choice, or None if the server did not send them.

    `generates`: one generated token follows the prompt.
    """
    own = choice.get("prompt_logprobs")
    ids = prompt if isinstance(prompt, list) else None
    if isinstance(own, list):
        tokens: list[TokenLogprob | None] = [
            _of_vllm(entry, ids[place] if ids is not None and place < len(ids) else None)
            for place, entry in enumerate(own)
        ]
    else:
        logprobs = choice.get("logprobs")
        values = logprobs.get("token_logprobs") if isinstance(logprobs, Mapping) else None
        if not isinstance(logprobs, Mapping) or not isinstance(values, list):
            return None
        columns = (_column(logprobs, "tokens", len(values)), values, _column(logprobs, "top_logprobs", len(values)))
        tokens = [_echoed(*row) for row in zip(*columns, strict=True)]
        tokens = tokens[: len(ids)] if ids is not None else tokens[: len(tokens) - generates]
    whole = len(tokens) == len(ids) if ids is not None else bool(tokens) or not prompt
    # only the first token of a prompt may have no probability
    return tokens if whole and all(token is not None for token in tokens[1:]) else None


def _column(logprobs: Mapping[str, Any], name: str, length: int) -> list[Any]:
    column = logprobs.get(name)
    return column if isinstance(column, list) and len(column) == length else [None] * length


def _echoed(token: Any, value: Any, top: Any) -> TokenLogprob | None:
    """Return a token of an echoed prompt."""
    return _token(str(token), value, top if isinstance(top, Mapping) else {})


def _of_vllm(entry: Any, token: int | None) -> TokenLogprob | None:
    """Return a token of vLLM's `prompt_logprobs`: a mapping from ids, the id of the prompt's token first."""
    if not isinstance(entry, Mapping) or not entry:
        return None
    key = next(iter(entry)) if token is None or str(token) not in entry else str(token)
    sound = {name: each for name, each in entry.items() if isinstance(each, Mapping)}
    if key not in sound:
        return None
    top = {str(each.get("decoded_token") or name): each.get("logprob") for name, each in sound.items()}
    return _token(str(sound[key].get("decoded_token") or key), sound[key].get("logprob"), top)


def _token(token: str, value: Any, top: Mapping[Any, Any]) -> TokenLogprob | None:
    """Return a token, with the most probable alternative if that differs; None if it has no probability."""
    if not _is_finite(value):
        return None
    best = max(((str(name), float(at)) for name, at in top.items() if _is_finite(at)), key=lambda p: p[1], default=None)
    return TokenLogprob(token, float(value), (best,) if best is not None and best[1] > value else ())


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def openai(model: str, options: ProviderOptions) -> ChatProvider:
    """Return likelihoods of `openai`; at OpenAI's address only two old models give log-likelihoods."""
    made = ChatProvider(ENDPOINTS["openai"], model, options)
    if is_hosted(made.base_url) and model not in _ECHOING_OPENAI:
        return made
    return CompletionsProvider(ENDPOINTS["openai"], model, options)


def hosted_vllm(model: str, options: ProviderOptions) -> CompletionsProvider:
    """Return likelihoods of `hosted_vllm`."""
    return CompletionsProvider(ENDPOINTS["hosted_vllm"], model, options)


def chat(model: str, options: ProviderOptions) -> CompletionsProvider:
    """Return likelihoods of `chat`: any server at `--base-url`."""
    return CompletionsProvider(ENDPOINTS["chat"], model, options)

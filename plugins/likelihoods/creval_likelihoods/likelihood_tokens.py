"""Texts as tokens for log-likelihoods: split between context and continuation, cut to a model's length, in windows.

This follows lm-eval (0.4.13) for models behind an API, so that numbers are equal. If the server exposes its tokenizer,
it is used; otherwise the raw texts are sent and the server reports the number of tokens of a context.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from creval.plugin import LoglikelihoodRequest
from creval.plugin.models import ContextLengthError

__all__ = ["Piece", "ServerTokenizer", "cut", "rolling_windows", "split_texts"]

Post = Callable[[str, bytes | None], Awaitable[bytes | None]]
"""Sends a body to a path of the server (None: GET); returns the response body, None if the path does not exist."""


class Piece(NamedTuple):
    """One prompt to be scored for a request (by its index).

    `prompt` is token ids or a text. The tokens after the first `context` tokens count; if `context` is a text, those
    after its tokens. `shortened`: tokens of the context were cut off on the left.
    """

    request: int
    prompt: list[int] | str
    context: int | str
    shortened: bool = False


def split_texts(request: LoglikelihoodRequest, prefix: str = "") -> tuple[str, str]:
    """Return context and continuation. White space at the context's end belongs to the continuation.

    `prefix` replaces an empty context.
    """
    context = request.context.rstrip()
    continuation = request.context[len(context) :] + request.continuation
    return context or prefix, continuation


def cut(request: int, context: list[int], continuation: list[int], length: int | None) -> Piece:
    """Return the piece for one request, cut on the left to `length` tokens.

    Raises ContextLengthError if nothing of the context would be left.
    """
    over = 0 if length is None else max(0, len(context) + len(continuation) - length)
    if over and over >= len(context):
        raise ContextLengthError(
            f"a text of {len(continuation)} tokens does not fit into a context of {length}",
            fix="Use a model with a longer context, or leave the doc out.",
        )
    return Piece(request, [*context[over:], *continuation], len(context) - over, over > 0)


def rolling_windows(tokens: list[int], prefix: list[int], length: int | None) -> list[tuple[list[int], list[int]]]:
    """Return (context, tokens to be scored) such that each token is scored once, in windows of at most `length`.

    The context of the first token is the prefix; that of the first token of a later window is the token before it. A
    shorter last window is filled up with more of the preceding tokens.
    """
    size = len(tokens) if length is None else length - 1
    windows = [(prefix, tokens[:size])] if tokens else []
    for start in range(size, len(tokens), max(1, size)):
        end = min(start + size, len(tokens))
        windows.append((tokens[end - size - 1 : start], tokens[start:end]))
    return windows


class ServerTokenizer(NamedTuple):
    """The tokenizer of a server at /tokenize, as in vLLM, SGLang, llama.cpp and TGI.

    `length` is the longest context that the server reports, None if it reports none.
    """

    post: Post
    model: str
    length: int | None = None

    @classmethod
    async def find(cls, post: Post, model: str) -> ServerTokenizer | None:
        """Return the server's tokenizer, None if it has none."""
        body = await cls(post, model)._tokenize_reply("a")
        if not _ids(body):
            return None
        length = body.get("max_model_len") if isinstance(body, dict) else None
        return cls(post, model, length if type(length) is int and length > 1 else None)

    async def encode(self, text: str) -> list[int]:
        """Return the token ids of a text, without special tokens that the text does not have."""
        return _ids(await self._tokenize_reply(text)) if text else []

    async def prefix(self) -> list[int]:
        """Return the token that begins a text: the tokenizer's first, else its last special token; empty if unknown."""
        body = _parsed(await self.post("/tokenizer_info", None))
        given = [body.get(name) for name in ("bos_token", "eos_token")] if isinstance(body, dict) else []
        names = [each.get("content") if isinstance(each, dict) else each for each in given]
        first = next((name for name in names if isinstance(name, str) and name), "")
        return (await self.encode(first))[:1]

    async def pieces(self, requests: Sequence[LoglikelihoodRequest], length: int | None, prefix: str) -> list[Piece]:
        """Return one piece for each request. Raises ContextLengthError."""
        pairs = [split_texts(request) for request in requests]
        texts = list(dict.fromkeys(text for context, rest in pairs for text in (context, context + rest)))
        tokens = dict(zip(texts, await asyncio.gather(*map(self.encode, texts)), strict=True))
        first = await self.first(prefix) if any(not context for context, _ in pairs) else []
        found = []
        for place, (context, rest) in enumerate(pairs):
            head, whole = tokens[context] if context else first, tokens[context + rest]
            begins = bool(context) or whole[: len(head)] == head
            found.append(cut(place, head, whole[len(head) :] if begins else whole, length))
        return found

    async def windows(self, requests: Sequence[LoglikelihoodRequest], length: int | None, prefix: str) -> list[Piece]:
        """Return the pieces of whole texts."""
        first = await self.first(prefix)
        return [
            Piece(place, [*context, *tokens], len(context))
            for place, request in enumerate(requests)
            for context, tokens in rolling_windows(await self.encode(request.continuation), first, length)
        ]

    async def first(self, prefix: str) -> list[int]:
        """Return the tokens that replace an empty context."""
        return await self.encode(prefix) if prefix else await self.prefix()

    async def _tokenize_reply(self, text: str) -> Any:
        # Each server reads its own key: vLLM and SGLang `prompt`, llama.cpp `content`, TGI `inputs`.
        body: dict[str, Any] = {"model": self.model, "prompt": text, "content": text, "inputs": text}
        body |= {"add_special_tokens": False, "add_special": False}
        return _parsed(await self.post("/tokenize", json.dumps(body).encode()))


def _parsed(data: bytes | None) -> Any:
    try:
        return json.loads(data) if data else None
    except ValueError:
        return None


def _ids(body: Any) -> list[int]:
    """Return the token ids of a response, a list of numbers or of objects with an `id`; empty if there are none."""
    tokens = body.get("tokens") if isinstance(body, dict) else body
    ids = [each.get("id") if isinstance(each, dict) else each for each in tokens] if isinstance(tokens, list) else []
    return [each for each in ids if type(each) is int] if all(type(each) is int for each in ids) else []

"""Replies to questions whose text may not be stored: what they quote of it is sealed before they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from creval.models.answers.reply_json import reply_from_json, reply_to_json
from creval.quotations import MARK, Originals, strings_in
from creval.types.messages import GenerateRequest, Reply

__all__ = ["opened_reply", "originals_of", "sealed_reply", "sealed_reply_data"]

_TEXTS = ("text", "reasoning", "refusal", "raw")


def originals_of(request: GenerateRequest) -> Originals:
    """Return what a reply to a question may not be stored with: the messages, which give the key, and the doc."""
    messages = [message.content for message in request.messages]
    return Originals.of(messages, strings_in(request.origin.doc))


def sealed_reply_data(data: Mapping[str, Any], originals: Originals) -> dict[str, Any]:
    """Return a reply as plain data with its quotations sealed; what is no text of the model stays."""
    return {**data, "completions": [_sealed(each, originals) for each in data["completions"]]}


def sealed_reply(reply: Reply, request: GenerateRequest) -> Reply:
    """Return a reply with what it quotes of the question sealed, where that may not be stored."""
    if not request.by_reference:
        return reply
    return _changed(reply, lambda data: sealed_reply_data(data, originals_of(request)))


def opened_reply(reply: Reply, request: GenerateRequest) -> Reply:
    """Return the reply that `sealed_reply` was given, for the same question."""
    if not any(MARK.search(text) for text in _texts(reply)):
        return reply
    return _changed(reply, Originals.of([message.content for message in request.messages]).opened_data)


def _changed(reply: Reply, change: Callable[[dict[str, Any]], Any]) -> Reply:
    return replace(reply, completions=reply_from_json(change(reply_to_json(reply))).completions)


def _sealed(completion: Mapping[str, Any], originals: Originals) -> dict[str, Any]:
    data = dict(completion)
    data |= {name: originals.sealed(data[name]) for name in _TEXTS if isinstance(data.get(name), str)}
    if "logprobs" in data:
        data["logprobs"] = originals.sealed_tokens(data["logprobs"])
    return data


def _texts(reply: Reply) -> list[str]:
    """Return the texts in which a mark may stand; log-probabilities repeat them."""
    return [
        text
        for each in reply.completions
        for text in (each.text, each.reasoning, each.refusal, each.raw)
        if text is not None
    ]

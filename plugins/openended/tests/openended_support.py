"""A session whose model says what a test scripts, call by call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from creval.plugin import Completion, Message, Reply, TokenLogprob

__all__ = ["Ended", "Scripted", "choices", "completion"]


class Ended(Exception):
    """The protocol ended the sample as unparsed."""


def completion(text: str, logprob: float | None = None, finish: str = "stop", refusal: str | None = None) -> Completion:
    """One answer whose tokens are its words with the blanks before them, each of the same log-probability."""
    tokens = None
    if logprob is not None:
        words = [word if i == 0 else f" {word}" for i, word in enumerate(text.split(" "))]
        tokens = tuple(TokenLogprob(word, logprob) for word in words)
    return Completion(text, finish, None, tokens, refusal)


class Scripted:
    """A `Session` over prepared replies; keeps what was asked."""

    def __init__(self, replies: Sequence[Sequence[Completion]]) -> None:
        self._replies = list(replies)
        self.asked: list[dict[str, Any]] = []
        self.prompts: list[dict[str, Any]] = []
        self.answers: list[str] = []
        self.outcome: dict[str, Any] = {}

    def prompt(self, name: str = "prompt", **extra: Any) -> list[Message]:
        self.prompts.append({"name": name, **extra})
        return [Message("user", name)]

    async def ask(
        self, messages: Sequence[Message], role: str = "target", tolerate: Any = (), **settings: Any
    ) -> Reply:
        self.asked.append({"tolerate": tuple(tolerate), **settings})
        return Reply(tuple(self._replies.pop(0)))

    def answer(self, text: str) -> None:
        self.answers.append(text)

    def report(self, **outcome: Any) -> None:
        self.outcome.update(outcome)

    def unparsed(self, reason: str) -> None:
        raise Ended(reason)


def choices(texts: Sequence[str], logprob: float | None = None, finish: str = "stop") -> list[dict[str, Any]]:
    """The choices of a chat completion, each word a token of the same log-probability."""
    found = []
    for index, text in enumerate(texts):
        choice: dict[str, Any] = {"index": index, "message": {"role": "assistant", "content": text}}
        if logprob is not None:
            words = [word if i == 0 else f" {word}" for i, word in enumerate(text.split(" "))]
            choice["logprobs"] = {"content": [{"token": word, "logprob": logprob} for word in words]}
        found.append({**choice, "finish_reason": finish})
    return found

"""Verbalised sampling: what is read from a reply, and what is drawn."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from creval_diversity.protocol import Ask, stated


class Unread(Exception):
    """The sample ended as unparsed."""


class Asked:
    """A session whose model says one text."""

    def __init__(self, text: str, seed: int = 1, **settings: Any) -> None:
        self.text, self.random = text, random.Random(seed)
        self.condition = SimpleNamespace(settings=settings)
        self.calls: list[Any] = []
        self.answers: list[str] = []
        self.outcome: dict[str, Any] = {}

    def prompt(self, name: str, **extra: Any) -> Any:
        return (name, extra)

    async def ask(self, messages: Any, **settings: Any) -> Any:
        self.calls.append((messages, settings))
        return SimpleNamespace(text=self.text)

    def answer(self, text: str) -> None:
        self.answers.append(text)

    def report(self, **outcome: Any) -> None:
        self.outcome |= outcome

    def unparsed(self, reason: str) -> None:
        raise Unread(reason)


def run(protocol: Ask, session: Any) -> Any:
    asyncio.run(protocol.run(session))
    return session


REPLY = '[{"answer": "wren", "probability": 0.9}, {"answer": "owl", "probability": 0.1}]'


def test_asked_outright() -> None:
    session = run(Ask(max_tokens=99), Asked(REPLY))
    assert session.calls == [(("plain", {}), {"tolerate": ("length", "refusal")})]
    assert session.answers == [REPLY]


def test_the_condition_wins() -> None:
    assert run(Ask(verbalised=True), Asked("A wren.", verbalised=False)).answers == ["A wren."]
    session = run(Ask(candidates=7, max_tokens=99), Asked(REPLY, verbalised=True))
    ((messages, settings),) = session.calls
    assert messages == ("verbalised", {"candidates": 7}) and settings == {"tolerate": ("length",), "max_tokens": 99}
    assert session.outcome["candidates"] == ["wren", "owl"] and session.answers[0] in {"wren", "owl"}


def test_drawn_by_the_probabilities() -> None:
    drawn = Counter(run(Ask(verbalised=True), Asked(REPLY, seed)).answers[0] for seed in range(300))
    assert 250 < drawn["wren"] < 290


@pytest.mark.parametrize(
    ("text", "answers", "weights"),
    [
        (
            '```json\n[{"response": " a ", "probability": "20%"}, {"text": "b", "probability": 5}]\n```',
            ["a", "b"],
            [0.2, 5],
        ),
        ('[{"answer": "a"}, {"answer": "b", "probability": 0.9}]', ["a", "b"], [1, 1]),
        ('[{"answer": "a", "probability": 0}, {"answer": "b", "probability": 0}]', ["a", "b"], [1, 1]),
        ('[{"answer": "a", "probability": -1}, {"answer": "b", "probability": 2}]', ["a", "b"], [1, 1]),
        ('[{"answer": "a", "probability": "nan"}]', ["a"], [1]),
        ('[{"answer": "", "probability": 1}, {"answer": "b", "probability": 0.3}]', ["b"], [0.3]),
        ('{"answers": [{"answer": "a", "probability": 0.5}]}', ["a"], [0.5]),
        ('[{"answer": "a", "probability": "90%"}, {"answer": "b", "probability": 0.1}]', ["a", "b"], [0.9, 0.1]),
        ('[{"answer": "a", "probability": 0.9}, {"answer": "b", "pro', ["a"], [0.9]),  # cut at the limit
        ('{"answer": "a", "probability": 0.9}\n{"Answer": "b", "Probability": 0.1}', ["a", "b"], [0.9, 0.1]),
        ("{" * 3000 + "}" * 3000, [], []),
        ("A wren.", [], []),
        ("[]", [], []),
        ('[{"answer": 3}]', [], []),
    ],
)
def test_replies(text: str, answers: list[str], weights: list[float]) -> None:
    assert stated(text) == (answers, weights)


def test_prose_is_unparsed() -> None:
    with pytest.raises(Unread):
        run(Ask(verbalised=True), Asked("A wren."))

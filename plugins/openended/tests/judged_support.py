"""A context whose judge says what a test scripts, over the real prompts of a task."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from creval.engine.roles.context import render
from creval.plugin import Completion, Condition, Message, Reply, SampleKey, Score, ScorerInput, Usage
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex

__all__ = ["CRITERIA", "Asked", "JudgeWorld", "Letters", "kind_of", "pair", "said_by", "score_one"]

CRITERIA = [
    {"name": "feasibility", "definition": "It can be done.", "positive": "feasible", "negative": "infeasible"},
    {"name": "safety", "definition": "Nobody is hurt.", "positive": "safe", "negative": "unsafe"},
    {"name": "effectiveness", "definition": "It helps.", "positive": "effective", "negative": "ineffective"},
]
Script = Callable[["Asked"], str | Reply]


class Letters:
    """Vectors of letter counts."""

    name = "letters"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.texts += texts
        return np.array([[text.lower().count(chr(97 + i)) + 0.001 for i in range(26)] for text in texts], np.float32)


class Asked:
    """One question to the judge: its kind, the prompt, the settings."""

    def __init__(self, text: str, draw: int, settings: Mapping[str, Any], messages: Sequence[Message]) -> None:
        self.text, self.draw, self.settings, self.messages = text, draw, settings, messages
        self.kind, self.by = kind_of(text)
        self.about = next((each["name"] for each in CRITERIA if f"{each['name']} Definition:" in text), "")
        self.seen = 0


class JudgeWorld:
    """The context of a scorer: prompts of a real task, a scripted judge, an embedding."""

    seed, task = 3, "jury"

    def __init__(self, script: Script, task: str = "openended/jury") -> None:
        self._task = TaskIndex(load_plugins()).load(task)
        self._script = script
        self._seen: Counter[str] = Counter()
        self.embedding = Letters()
        self.asked: list[Asked] = []
        self.unread: list[str] = []

    def resource(self, name: str) -> Any:
        return self.embedding

    def prompt(self, name: str, fields: Mapping[str, Any], **extra: Any) -> list[Message]:
        return render(self._task.find_prompt(name), {**fields, **extra}, self._task.file)

    async def ask(
        self, role: str, messages: Sequence[Message], key: SampleKey, draw: int = 0, **settings: Any
    ) -> Reply:
        assert role == "judge"
        asked = Asked(messages[-1].content, draw, settings, messages)
        asked.seen = self._seen[asked.text]
        self._seen[asked.text] += 1
        self.asked.append(asked)
        said = self._script(asked)
        if isinstance(said, Reply):
            return said
        words = sum(len(message.content.split()) for message in messages)
        return Reply((Completion(said),), Usage(words, len(said.split())))

    def unreadable(self, reply: Reply, reason: str) -> None:
        self.unread.append(reason)

    def of(self, kind: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.kind == kind]


def kind_of(text: str) -> tuple[str, str]:
    """Which prompt of the jury this is, and which analyst speaks."""
    opening = text.partition(",")[0]
    by = next((who for who in ("problem", "solution", "criterion") if f"{who} analyst" in opening), "")
    for mark, kind in (
        ("MAXIMUM of 300 words", "start"),
        ("Relevant discussion is below", "turn"),
        ("Discussion points:", "confidence"),
        ("final binary verdict", "verdict"),
    ):
        if mark in text:
            return kind, by
    return "other", by


def said_by(**changed: str | Callable[[Asked], str | Reply]) -> Script:
    """A judge that is sure and says YES, but for the kinds of questions that are named."""
    usual: dict[str, str | Callable[[Asked], str | Reply]] = {
        "start": "[[POINT]] Rope. [[POINT]] Bucket.",
        "turn": "[[General thoughts/opinion]]: It holds.",
        "confidence": "Thus, [[0.8]]. ([YES])",
        "verdict": "[[YES]] It holds.",
        **changed,
    }

    def script(asked: Asked) -> str | Reply:
        reported = usual[asked.kind]
        return reported if isinstance(reported, str) else reported(asked)

    return script


def pair(answer: str = "Step 1: Tie the rope.", doc: str = "d1", **outcome: Any) -> ScorerInput:
    key = SampleKey("jury", doc, "default", 0)
    return ScorerInput(key, {"problem": "A well, a rope."}, Condition(), [answer], [answer], outcome)


def score_one(scorer: Any, world: JudgeWorld, item: ScorerInput | None = None) -> Score:
    (found,) = asyncio.run(scorer.score([item or pair()], world))
    assert isinstance(found, Score)
    return found

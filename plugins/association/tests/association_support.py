"""Embeddings, contexts and items for the tests of this plugin."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from creval.types.components import ScorerInput, Turn
from creval.types.sample import Condition, SampleKey

ROOT = Path(__file__).resolve().parents[3]


@dataclass
class Table:
    """Word vectors from a table; words that are not in it have none."""

    vectors: Mapping[str, Sequence[float]]
    name: str = "table@1"
    cheap: bool = True
    asked: list[int] = field(default_factory=list)

    @property
    def dimension(self) -> int:
        return len(next(iter(self.vectors.values())))

    def has(self, text: str) -> bool:
        return text in self.vectors

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked.append(len(texts))
        return np.array([self.vectors[text] for text in texts], dtype=np.float32)


@dataclass
class FakeContext:
    """A context that holds resources by name."""

    resources: Mapping[str, Any]
    task: str = "task"
    seed: int = 0

    def resource(self, name: str) -> Any:
        return self.resources[name]

    async def ask(self, *arguments: Any, **settings: Any) -> Any:
        raise AssertionError("no model is asked here")


def context(**resources: Any) -> FakeContext:
    return FakeContext(resources)


def scorer_input(doc: Mapping[str, Any], *values: Any, answers: Sequence[str] = (), **outcome: Any) -> ScorerInput:
    return ScorerInput(SampleKey("task", "doc", "default", 0), doc, Condition(), list(values), list(answers), outcome)


def turn(doc: Mapping[str, Any], where: FakeContext, seed: int = 0, call: int = 0) -> Turn:
    key = SampleKey("task", "doc", "default", 0)
    return Turn(doc, Condition(), (), key, call, random.Random(seed), where)  # type: ignore[arg-type]

"""Scorers of the whole set of answers to a doc: numbers of classes, and utility by a judge.

Each sample of a set has the set's score, so that the mean over samples is the mean over docs. An answer that cannot
be parsed belongs to no class: it contributes nothing, but keeps its place in the order.
"""

from __future__ import annotations

import inspect
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from creval.plugin import Context, Expected, Score, ScorerInput, ScoringError
from creval_diversity.classes import PATIENCE, Pair, Same, classes_of, count, utility

__all__ = ["Embedded", "Entailed", "Exact", "JudgedUtility", "classifier"]

_TRIES = 2
_NUMBER = r"(?<![\d.,-])(10|[1-9])(?:\.0)?(?![\d.,]*\d)"
_WAYS = (
    re.compile(rf"{_NUMBER}[\s*_]*(?:/|out of)\s*10\b"),
    re.compile(rf"\b(?:rating|score|mark)\b[^\w\n-]{{1,8}}(?:(?:is|of)\b[^\w\n-]{{1,8}})?{_NUMBER}", re.IGNORECASE),
    re.compile(_NUMBER),
)
"""The forms of a rating, the plainest last."""
_SCALE = re.compile(r"\b1\s*(?:to|-|–)\s*10\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Set:
    """The samples of one doc and condition, in the order of their repeats; `texts` are those of `read`."""

    items: Sequence[ScorerInput]
    order: Sequence[int]
    read: Sequence[int]

    @classmethod
    def of(cls, items: Sequence[ScorerInput]) -> _Set:
        order = sorted(range(len(items)), key=lambda place: items[place].key.repeat)
        return cls(items, order, [place for place in order if items[place].values])

    @property
    def texts(self) -> list[str]:
        return [str(self.items[place].values[0]) for place in self.read]

    def by_place(self, classes: Sequence[int]) -> dict[int, int]:
        return dict(zip(self.read, classes, strict=True))

    def scores(self, name: str, value: float, classes: Sequence[int]) -> list[Score]:
        of = self.by_place(classes)
        return [Score({name: value}, {f"class_of_{name}": of.get(place)}) for place in range(len(self.items))]


async def _counted(items: Sequence[ScorerInput], name: str, same: Same) -> list[Score]:
    found = _Set.of(items)
    classes = await classes_of(found.texts, same)
    return found.scores(name, float(count(classes)), classes)


class Exact:
    """Score `classes_exact`: answers are equivalent if their words are equal, ignoring case."""

    async def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Score the answers to one doc under one condition."""
        return await _counted(items, "classes_exact", _equal)


async def _equal(pairs: Sequence[Pair]) -> Sequence[bool]:
    return [one.lower().split() == other.lower().split() for one, other in pairs]


@dataclass(frozen=True, slots=True)
class Embedded:
    """Score `classes_embedding`: answers are equivalent if the cosine of their vectors is at least `threshold`."""

    threshold: float = 0.75

    async def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Score the answers to one doc under one condition."""
        return await _counted(items, "classes_embedding", close(context, _Set.of(items).texts, self.threshold))


def close(context: Context, texts: Sequence[str], threshold: float) -> Same:
    """Return a function that decides whether two of these texts are close under the task's embedding."""
    distinct = list(dict.fromkeys(texts))
    vectors = (
        np.asarray(context.resource("embedding").embed(distinct), dtype=np.float64) if distinct else np.zeros((0, 1))
    )
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = dict(zip(distinct, vectors / np.where(norms > 0, norms, 1.0), strict=True))

    async def same(pairs: Sequence[Pair]) -> Sequence[bool]:
        return [one == other or float(unit[one] @ unit[other]) >= threshold for one, other in pairs]

    return same


@dataclass(frozen=True, slots=True)
class Entailed:
    """Score `name`: answers are equivalent if the first of the class entails the other with over `threshold`.

    `both`: the entailment must be mutual.
    """

    threshold: float = 0.5
    direction: Literal["both", "forward"] = "both"
    name: str = "classes_entailment"

    def expected_pairs(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int | None]]:
        """Return the range of the number of pairs for a set, which depends on its answers."""
        return {"entailment": (0, None)}

    async def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Score the answers to one doc under one condition."""
        entailment = context.resource("entailment")

        async def entails(pairs: Sequence[Pair]) -> list[bool]:
            rows = entailment.predict(pairs)
            rows = await rows if inspect.isawaitable(rows) else rows
            return [bool(row[0] > self.threshold) for row in np.asarray(rows)]

        async def same(pairs: Sequence[Pair]) -> Sequence[bool]:
            found = await entails(pairs)
            if self.direction == "both" and any(found):
                held = [place for place, holds in enumerate(found) if holds]
                back = await entails([(pairs[place][1], pairs[place][0]) for place in held])
                for place, holds in zip(held, back, strict=True):
                    found[place] = holds
            return found

        return await _counted(items, self.name, same)


def classifier() -> Entailed:
    """Score `distinct_classifier`: the paper's threshold, .102, in one direction, for its own classifier."""
    return Entailed(0.102, "forward", "distinct_classifier")


@dataclass(frozen=True, slots=True)
class JudgedUtility:
    """Score `judged_utility` (0 to 10): NoveltyBench's utility, with classes by embedding and qualities by a judge.

    The judge rates the first answer of each class from 1 to 10. The paper instead uses the qualities of a reward model
    of 27 billion parameters.
    """

    threshold: float = 0.75
    patience: float = PATIENCE

    def expected_role_calls(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int]]:
        """Return the range of calls: at least one per set, at most two per sample."""
        return {"judge": (0, _TRIES * expected.answers)}

    async def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Score the answers to one doc under one condition. Raises ScoringError if a rating cannot be read."""
        found = _Set.of(items)
        classes = await classes_of(found.texts, close(context, found.texts, self.threshold))
        of = found.by_place(classes)
        rated: dict[int, float] = {}
        for place in found.read:
            if of[place] not in rated:
                rated[of[place]] = await _rating(items[place], context)
        ordered = [of.get(place) for place in found.order]
        value = utility(ordered, [0.0 if each is None else rated[each] for each in ordered], self.patience)
        return found.scores("judged_utility", value, classes)


async def _rating(item: ScorerInput, context: Context) -> float:
    messages = context.prompt("rating", item.doc, answer=str(item.values[0]))
    for draw in range(_TRIES):
        reply = await context.ask("judge", messages, item.key, draw)
        rating = _rating_in(reply.text)
        if rating is not None:
            return rating
        context.unreadable(reply, "no rating from 1 to 10")
    raise ScoringError("the judge gives no rating from 1 to 10", where=f"doc {item.key.doc}", fix="Name another judge.")


def _rating_in(text: str) -> float | None:
    """Return the rating in a reply: as `N/10`, after its name, or as its only number; None for several."""
    shown = _SCALE.sub("", unicodedata.normalize("NFKC", text))
    hits = next((hits for way in _WAYS if (hits := set(way.findall(shown)))), set())
    return float(hits.pop()) if len(hits) == 1 else None

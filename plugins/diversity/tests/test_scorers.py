"""The scorers on sets of answers, with resources that a test scripts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from creval.plugin import Completion, Message, Reply, SampleKey, ScorerInput, ScoringError
from creval.types.sample import Condition
from creval_diversity.scorers import Embedded, Entailed, Exact, JudgedUtility, classifier

LONG = "and so the story of the long night goes on "


class Scripted:
    """A context: vectors by text, probabilities of entailment by pair, ratings in order."""

    def __init__(self, vectors: Any = None, entails: Any = None, ratings: Sequence[str] = ()) -> None:
        self.vectors, self.entails, self.ratings = vectors or {}, entails or {}, list(ratings)
        self.asked: list[str] = []
        self.refused = 0

    def resource(self, name: str) -> Any:
        return self

    def embed(self, texts: Sequence[str]) -> Any:
        return np.array([self.vectors[text] for text in texts], dtype=np.float32)

    async def predict(self, pairs: Sequence[tuple[str, str]]) -> Any:
        shares = [self.entails.get(pair, 0.0) for pair in pairs]
        return np.array([[share, 1 - share, 0] for share in shares])

    def prompt(self, name: str, fields: Mapping[str, Any], **extra: Any) -> list[Message]:
        return [Message("user", extra["answer"])]

    async def ask(self, role: str, messages: Sequence[Message], key: SampleKey, draw: int = 0) -> Reply:
        self.asked.append(str(messages[0].content))
        return Reply((Completion(self.ratings.pop(0)),))

    def unreadable(self, reply: Reply, reason: str) -> None:
        self.refused += 1


def items(*answers: str | None) -> list[ScorerInput]:
    """Samples of one doc; None: one whose answer could not be read."""
    return [
        ScorerInput(
            SampleKey("t", "d", "default", repeat), {}, Condition("default"), [] if text is None else [text], [], {}
        )
        for repeat, text in enumerate(answers)
    ]


def values(scorer: Any, given: Sequence[ScorerInput], context: Scripted | None = None) -> list[float]:
    scores = asyncio.run(scorer.score(given, context or Scripted()))
    return [value for score in scores for value in score.scores.values()]


def test_collapse_and_no_collapse() -> None:
    many = [f"{LONG}{place}" for place in range(10)]
    assert values(Exact(), items(*many)) == [10.0] * 10
    assert values(Exact(), items(*[many[0]] * 10)) == [1.0] * 10
    assert values(Exact(), items(LONG, LONG.upper(), f" {LONG}")) == [1.0] * 3


def test_an_unread_answer_brings_nothing() -> None:
    assert values(Exact(), items(f"{LONG}1", None, f"{LONG}2")) == [2.0] * 3
    assert values(Exact(), items(None, None)) == [0.0] * 2


def test_the_order_is_that_of_the_repeats() -> None:
    """With neighbours alike, 0 1 2 are two classes, and 1 0 2 are one: samples may come in any order."""
    names = [f"{LONG}{place}" for place in range(3)]
    vectors = dict(zip(names, ([1, 0], [1, 1], [0, 1]), strict=True))
    given = items(*names)
    for shuffled in ([given[1], given[0], given[2]], given, given[::-1]):
        assert values(Embedded(0.7), shuffled, Scripted(vectors)) == [2.0] * 3
    details = asyncio.run(Embedded(0.7).score(given[::-1], Scripted(vectors)))  # type: ignore[arg-type]
    assert [score.details for score in details] == [{"class_of_classes_embedding": each} for each in (1, 0, 0)]
    middle_first = items(names[1], names[0], names[2])
    assert values(Embedded(0.7), middle_first, Scripted(vectors)) == [1.0] * 3


def test_short_answers_go_by_words_and_ask_no_resource() -> None:
    assert (
        values(
            Embedded(),
            items("Tom Hanks", "Tom Cruise", "Meryl Streep"),
            Scripted({text: [1, 0] for text in ("Tom Hanks", "Tom Cruise", "Meryl Streep")}),
        )
        == [2.0] * 3
    )


@pytest.mark.parametrize(
    ("there", "back", "both", "forward", "paper"),
    [(0.9, 0.9, 1, 1, 1), (0.9, 0.1, 2, 1, 1), (0.1, 0.9, 2, 2, 2), (0.5, 0.5, 2, 2, 1), (0.11, 0, 2, 2, 1),
     (0.102, 1, 2, 2, 2)],
)  # fmt: skip
def test_entailment(there: float, back: float, both: int, forward: int, paper: int) -> None:
    one, other = f"{LONG}one", f"{LONG}two"
    entails = {(one, other): there, (other, one): back}
    found = [
        values(scorer, items(one, other), Scripted(entails=entails))[0]
        for scorer in (Entailed(), Entailed(direction="forward"), classifier())
    ]
    assert found == [both, forward, paper]
    (score, _) = asyncio.run(classifier().score(items(one, other), Scripted(entails=entails)))  # type: ignore[arg-type]
    assert set(score.scores) == {"distinct_classifier"}


def test_the_judge_rates_the_first_answer_of_each_class() -> None:
    one, other = f"{LONG}one", f"{LONG}two"
    context = Scripted({one: [1, 0], other: [0, 1]}, ratings=["4", "Rating: 9 out of 10"])
    (first, *_) = values(JudgedUtility(), items(None, one, one, other), context)
    weights = [1, 0.8, 0.64, 0.512]
    assert first == pytest.approx((0.8 * 4 + 0.512 * 9) / sum(weights))
    assert context.asked == [one, other]


@pytest.mark.parametrize(
    ("reply", "rating"),
    [("7", 7), ("**7**/10", 7), ("7/10", 7), ("10", 10), ("10/10", 10), ("7.5", None), ("11", None), ("0", None),
     ("6 or 7", None), ("-5", None), ("I rate it 8.", 8),
     ("8.0", 8), ("8,5", None), ("８", 8), ("I'd give 8 (on a scale from 1 to 10).", 8), ("8/10, as 3 parts fit.", 8),
     ("Rating: 8\n\nReason: 2 things.", 8), ("Score 6/10, or 7/10", None), ("**Rating:** 9", 9), ('{"rating": 8}', 8)],
)  # fmt: skip
def test_ratings(reply: str, rating: int | None) -> None:
    context = Scripted({LONG: [1, 0]}, ratings=[reply, reply])
    if rating is None:
        with pytest.raises(ScoringError):
            values(JudgedUtility(), items(LONG), context)
        assert context.refused == 2
    else:
        assert values(JudgedUtility(), items(LONG), context) == [rating]

"""Floor and ceiling baselines."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from association_support import Table, context, scorer_input, turn
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.resources.wordlists import WordList
from creval_association.banks import DratAnchors
from creval_association.baselines.greedy import greedy
from creval_association.baselines.greedy_nouns import GreedyNouns
from creval_association.baselines.random_nouns import RandomNouns
from creval_association.geometry import mean_pairwise_distance, unit
from creval_association.scorers.drat import Drat

WORDS = [f"w{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(300)]
RNG = np.random.default_rng(7)
TABLE = Table({word: list(RNG.normal(size=12)) for word in WORDS})


def by_the_letter(units: np.ndarray, first: int, count: int) -> list[int]:
    """Algorithm 1 of Appendix D, line by line."""
    chosen = [first]
    while len(chosen) < count:
        left = [v for v in range(len(units)) if v not in chosen]
        chosen.append(min(left, key=lambda v: np.mean([units[v] @ units[u] for u in chosen])))
    return chosen


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 299), st.integers(1, 12))
def test_greedy_is_algorithm_1(first: int, count: int) -> None:
    units = unit(np.array([TABLE.vectors[word] for word in WORDS]))
    assert greedy(units.astype(np.float32), first, count) == by_the_letter(units, first, count)


def test_greedy_keeps_to_what_is_allowed_and_stops_when_all_is_used() -> None:
    units = unit(RNG.normal(size=(20, 4))).astype(np.float32)
    allowed = np.zeros(20, dtype=bool)
    allowed[[3, 5, 8]] = True
    assert sorted(greedy(units, 5, 10, allowed)) == [3, 5, 8]


def test_greedy_beats_random_lists_by_far() -> None:
    where = context(embedding=TABLE, wordlist=WordList("test", WORDS))

    def distance(answer: str) -> float:
        words = json.loads(answer)
        assert len(words) == len(set(words)) == 10
        return mean_pairwise_distance(unit(TABLE.embed(words)))

    best = [distance(GreedyNouns().reply(turn({}, where, seed))) for seed in range(5)]
    chance = [distance(RandomNouns().reply(turn({}, where, seed))) for seed in range(20)]
    assert min(best) > max(chance)


def test_baselines_depend_on_the_seed_alone() -> None:
    where = context(embedding=TABLE, wordlist=WordList("test", WORDS))
    for player in (RandomNouns(), GreedyNouns()):
        assert player.reply(turn({}, where, 3)) == player.reply(turn({}, where, 3))
        assert len({player.reply(turn({}, where, seed)) for seed in range(5)}) > 1


def test_the_ceiling_of_drat_satisfies_the_gate(embedded: Any) -> None:
    """With the packaged GloVe vectors: every word of the baseline survives, for every set of anchors."""
    from creval.resources.resource_options import ResourceOptions
    from creval_association.nouns import open_nouns

    where = context(embedding=embedded("glove-6b-50d"), wordlist=open_nouns("oewn", ResourceOptions()))
    player = GreedyNouns(gate="anchors")
    docs = [dict(doc.fields) for doc in DratAnchors().docs()]
    answers = [json.loads(player.reply(turn(doc, where, i))) for i, doc in enumerate(docs)]
    scores = Drat().score([scorer_input(doc, answer) for doc, answer in zip(docs, answers, strict=True)], where)
    floor = RandomNouns()
    chance = [json.loads(floor.reply(turn(doc, where, i))) for i, doc in enumerate(docs)]
    low = Drat().score([scorer_input(doc, answer) for doc, answer in zip(docs, chance, strict=True)], where)
    assert all(score.scores["survivors"] == 10 for score in scores)
    assert not any(word in doc["anchors"] for doc, answer in zip(docs, answers, strict=True) for word in answer)
    assert np.mean([s.scores["drat"] for s in scores]) > 3 * np.mean([s.scores["drat"] for s in low])


def test_too_few_words_with_vectors_are_an_error() -> None:
    from creval.errors import UsageError

    where = context(embedding=TABLE, wordlist=WordList("test", ["unheard", "waa"]))
    with pytest.raises(UsageError, match="only 1 word of"):
        GreedyNouns().reply(turn({}, where))

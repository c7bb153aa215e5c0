"""Floor and ceiling of PACE: random nouns, and chains in which each word is far from all earlier ones."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import numpy as np

from creval.plugin import Turn
from creval_association.baselines.candidates import CandidatePool
from creval_association.baselines.greedy import greedy
from creval_association.lookup import Lookup

__all__ = ["GreedyChains", "RandomChains"]

_PAIR = re.compile(r'"[^"]{1,100}" -> "([^"]{1,100})"')
_FIRST = 3
_CHAIN = 20


def _answer(words: Sequence[str]) -> str:
    return json.dumps({"results": [{"word": word, "reason": "chosen without a model"} for word in words]})


def _second_word(turn: Turn) -> str | None:
    """Return the first association, with which the chain starts, from the prompt of stage two; None in stage one."""
    if turn.call == 0:
        return None
    found = _PAIR.search(turn.messages[-1].text) if turn.messages else None
    return found.group(1) if found else str(turn.doc["seed"])


class RandomChains:
    """Random nouns of the task's word list in both stages."""

    def reply(self, turn: Turn) -> str:
        """Return the JSON that the prompts ask for."""
        words = turn.context.resource("wordlist").words
        second = _second_word(turn)
        if second is None:
            return _answer(turn.random.sample(list(words), _FIRST))
        return _answer([second, *turn.random.sample(list(words), _CHAIN - 1)])


class GreedyChains:
    """In each step the noun with the greatest mean distance to all words before it: the step of Eq. 4."""

    def __init__(self, candidates: int | None = None) -> None:
        self._pool = CandidatePool(candidates)

    def reply(self, turn: Turn) -> str:
        """Return the JSON that the prompts ask for."""
        found = self._pool.get(turn.context)
        second = _second_word(turn)
        start = [str(turn.doc["seed"])] + ([second] if second is not None else [])
        lookup = Lookup(turn.context.resource("embedding"), start)
        before = lookup.rows([word for word in start if word in lookup])
        closed = [i for i, word in enumerate(found.words) if word in start]
        allowed = np.ones(len(found.words), dtype=bool)
        allowed[closed] = False
        count = _FIRST if second is None else _CHAIN - 1
        words = [found.words[row] for row in greedy(found.units, None, count, allowed, before)]
        return _answer(words if second is None else [second, *words])

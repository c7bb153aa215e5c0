"""Ceiling of DAT, CDAT and DRAT: greedy distant nouns, within a gate if the doc has anchors or a cue."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from creval.plugin import Turn
from creval_association.baselines.candidates import CandidatePool
from creval_association.baselines.greedy import greedy
from creval_association.gate import Gate, Utility, null_pool
from creval_association.lookup import Lookup

__all__ = ["GreedyNouns"]


class GreedyNouns:
    """Answers with `words` nouns by Algorithm 1 of Appendix D (arXiv:2605.13450) over the task's word list.

    `gate` names the doc field that the words must be relevant to (`anchors` or `cue`). Only nouns above the
    threshold of DRAT's gate, with the given `utility`, `quantile` and `pool`, may then be chosen, excluding the
    anchors. If fewer than `words` nouns pass, the answer is those that pass.
    """

    def __init__(
        self,
        words: int = 10,
        gate: str | None = None,
        utility: Utility = "max",
        quantile: float = 0.90,
        pool: Sequence[str] | None = None,
        candidates: int | None = None,
    ) -> None:
        self._words = words
        self._field = gate
        self._gate = Gate(utility, quantile, null_pool() if pool is None else pool)
        self._pool = CandidatePool(candidates)

    def reply(self, turn: Turn) -> str:
        """Return a JSON array."""
        found = self._pool.get(turn.context)
        allowed = self._allowed(turn, found.units, found.words) if self._field else None
        open_rows = range(len(found.words)) if allowed is None else np.flatnonzero(allowed)
        if not len(open_rows):
            return "[]"
        first = int(open_rows[turn.random.randrange(len(open_rows))])
        chosen = greedy(found.units, first, self._words, allowed)
        return json.dumps([found.words[row] for row in chosen])

    def _allowed(self, turn: Turn, units: np.ndarray, words: Sequence[str]) -> np.ndarray:
        value = turn.doc[str(self._field)]
        anchors = [value] if isinstance(value, str) else list(value)
        lookup = Lookup(turn.context.resource("embedding"), [*anchors, *self._gate.pool], phrases="all")
        rows = lookup.rows(anchors)
        # A margin of a float32 rounding error: the scorer compares in float64, strictly.
        above = self._gate.utilities(units.astype(np.float64), rows) > self._gate.threshold(lookup, rows) + 1e-6
        return np.asarray(above & ~np.isin(np.asarray(words), anchors))

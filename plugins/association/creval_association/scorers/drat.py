"""Divergent Remote Association Test (arXiv:2605.13450, section 4.2, Eqs. 6 to 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from creval.plugin import Context, Score, ScorerInput, ScoringError
from creval_association.gate import Gate, Utility, null_pool
from creval_association.geometry import mean_pairwise_distance
from creval_association.lookup import Lookup
from creval_association.words import Kept, plain_words

__all__ = ["Drat"]


@dataclass(frozen=True)
class Drat:
    """Scores lists of words against the anchors of their doc (field `anchors`).

    The first `words` valid words of an answer count. They survive if their utility is strictly above the `quantile` of
    the utilities of the nouns in `pool`. The score is 100 times the mean pairwise cosine distance of the
    survivors, range [0, 200], or 0 with fewer than `min_survivors`. Scores: `drat`, `survivors` (0 to `words`),
    `gate_passed` (1 if there were enough survivors).

    An answer without a valid word is unparsed; a word without a vector (word vectors only) cannot survive and is
    listed; an anchor or a noun of the pool without a vector is an error.
    """

    utility: Utility = "max"
    quantile: float = 0.90
    min_survivors: int = 3
    words: int = 10
    pool: Sequence[str] = field(default_factory=null_pool)

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc cannot be scored, or None."""
        anchors = fields.get("anchors")
        if isinstance(anchors, list) and anchors and all(isinstance(anchor, str) for anchor in anchors):
            return None
        return f"the field 'anchors' must be a list of texts, not {str(anchors)[:60]!r}"

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Return one score for each item, in order."""
        kept = [plain_words(item.value, self.words) for item in items]
        anchors = [list(item.doc["anchors"]) for item in items]
        embedding = context.resource("embedding")
        texts = [*self.pool, *(text for group in anchors for text in group)]
        lookup = Lookup(embedding, [*texts, *(word for each in kept for word in each.words)], phrases="all")
        return [self._score_sample(each, group, lookup) for each, group in zip(kept, anchors, strict=True)]

    def _score_sample(self, kept: Kept, anchors: Sequence[str], lookup: Lookup) -> Score:
        if not kept.words:
            return Score({}, {"dropped": list(kept.dropped)}, failure="no valid word in the answer")
        gate = Gate(self.utility, self.quantile, self.pool)
        try:
            anchor_rows = lookup.rows(anchors)
            threshold = gate.threshold(lookup, anchor_rows)
        except ScoringError as error:
            return Score({}, failure=str(error), errored=True)
        known = [word for word in kept.words if word in lookup]
        rows = lookup.rows(known)
        utilities = gate.utilities(rows, anchor_rows) if known else np.zeros(0)
        above = np.flatnonzero(gate.above(utilities, threshold))
        passed = len(above) >= max(2, self.min_survivors)
        score = 100.0 * mean_pairwise_distance(rows[above]) if passed else 0.0
        details = {
            "words": list(kept.words),
            "dropped": list(kept.dropped),
            "no_vector": [word for word in kept.words if word not in lookup],
            "utilities": {word: round(float(utility), 4) for word, utility in zip(known, utilities, strict=True)},
            "threshold": round(threshold, 4),
            "survivors": [known[i] for i in above],
            "anchors_repeated": [word for word in kept.words if word in anchors],
        }
        return Score({"drat": score, "survivors": float(len(above)), "gate_passed": float(passed)}, details)

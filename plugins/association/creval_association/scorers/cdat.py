"""Conditional Divergent Association Task (Nakajima et al. 2026; arXiv:2605.13450, Eqs. 2 and 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from creval.plugin import Context, Score, ScorerInput
from creval_association.geometry import mean_pairwise_distance
from creval_association.lookup import Lookup
from creval_association.words import plain_words

__all__ = ["Cdat"]


@dataclass(frozen=True)
class Cdat:
    """Novelty and appropriateness of a list of words for the cue of its doc (field `cue`).

    Both use the first `words` valid words that have a vector; an answer with fewer is unparsed. `cdat_n` is 100 times
    their mean pairwise cosine distance (range [0, 200]). `cdat_a` is 100 times their mean cosine to the cue: Eq. 3 with
    `appropriateness_scale` `plain` (range [-100, 100]); `shifted` adds 100, as in Table 3 of the paper. A cue without
    a vector is an error.

    The gate over several models (`creval analyse cdat-gate`) compares `details.gate_appropriateness`: Eq. 3 on the
    plain scale. `gate_words` chooses its words: `first` (those of Eq. 3), or `all` valid words of the answer.
    """

    words: int = 7
    appropriateness_scale: Literal["plain", "shifted"] = "plain"
    gate_words: Literal["first", "all"] = "first"

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Return one score for each item, in order."""
        kept = [plain_words(item.value) for item in items]
        cues = [str(item.doc["cue"]) for item in items]
        lookup = Lookup(
            context.resource("embedding"), [*cues, *(word for each in kept for word in each.words)], phrases="all"
        )
        results = []
        for each, cue in zip(kept, cues, strict=True):
            known = [word for word in each.words if word in lookup]
            used = known[: self.words]
            details = {
                "words": used,
                "dropped": list(each.dropped),
                "no_vector": [word for word in each.words if word not in lookup],
                "cue_repeated": cue in each.words,
            }
            if cue not in lookup:
                results.append(Score({}, details, failure=f"the cue {cue!r} has no vector", errored=True))
            elif len(used) < self.words:
                results.append(Score({}, details, failure=f"{len(used)} valid words, {self.words} needed"))
            else:
                results.append(self._score_sample(lookup, cue, known, details))
        return results

    def _score_sample(self, lookup: Lookup, cue: str, known: Sequence[str], details: dict[str, object]) -> Score:
        rows = lookup.rows(known)
        cosines = rows @ lookup.rows([cue])[0]
        shift = 100.0 if self.appropriateness_scale == "shifted" else 0.0
        scores = {
            "cdat_n": 100.0 * mean_pairwise_distance(rows[: self.words]),
            "cdat_a": shift + 100.0 * float(np.mean(cosines[: self.words])),
        }
        compared = cosines if self.gate_words == "all" else cosines[: self.words]
        return Score(scores, {**details, "gate_appropriateness": 100.0 * float(np.mean(compared))})

"""Scorer `create`: judged strength and factuality, and the creative utility of the counted paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from creval.plugin import Context, JudgedPart, Score, ScorerInput
from creval_create.judging.judge import PathJudge, StrengthOf, Verdict
from creval_create.judging.judged_parts import judged_parts
from creval_create.paths.strings import path_string
from creval_create.paths.validity import Validity
from creval_create.task.answers import Candidates, candidates
from creval_create.task.details import sample_details
from creval_create.utility.distance import mean_distance, raw_distances, transformed
from creval_create.utility.exact import MOST_PATHS, exact_utility
from creval_create.utility.rules import MAIN_PATIENCE, PATIENCES, Rules, Variant
from creval_create.utility.strength import path_strength
from creval_create.utility.utility import best_order, discounted, utilities

__all__ = ["CreativeUtility"]

_USEFUL = 1.0
"""A path is useful if it adds as much as a single path of strength 1."""


class CreativeUtility:
    """Scores the set of paths of a sample (resource `embedding`, role `judge` with prompts `factuality`, `strength`).

    Rules: `variant` and single settings as in `Rules`. Only distinct paths that are valid under `validity`, or under
    one of the rules in `also`, are judged. Scores, G from 0.0 to 1.0 in steps of 0.1 (Figure 4):

    - `creative_utility@G`; with `also` next to it `creative_utility_shared@G` and so on
    - `exact_utility@0.9` and `exact_gap@0.9`, the best order's value and its excess over the greedy one, for sets of
      at most eight paths
    - `strength` (of the strongest path, 0 for an empty set), `distance` (mean over pairs; none below two paths)
    - `valid`, `paths` (valid and all triples true: the |U| of Table 1; with `least_true` those with at
      least this share of true triples: 0 for Table 8), `useful` (adds at least 1)
    - `factuality`, the share of true triples among the `triples` of valid paths; weighted by these it is Table 8's

    A judge that fails or whose verdict is unreadable makes the sample errored.
    """

    def __init__(
        self,
        variant: Variant = "paper",
        also: Sequence[Validity] = (),
        strength_of: StrengthOf = "factual",
        least_true: float = 1.0,
        **rules: Any,
    ) -> None:
        self._rules = Rules.of(variant, **rules)
        self._also = tuple(rule for rule in also if rule != self._rules.validity)
        self._least_true = least_true
        self._strength_of: StrengthOf = strength_of if least_true == 1 else "valid"

    async def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Return one score for each item, in order."""
        return [await self._score_sample(item, context) for item in items]

    async def _score_sample(self, item: ScorerInput, context: Context) -> Score:
        found = candidates(item)
        wanted = sorted({place for rule in (self._rules.validity, *self._also) for place in found.valid(rule)})
        judge = PathJudge(context, item.key, self._strength_of)
        verdicts = dict(zip(wanted, await judge.verdicts([found.paths[i].path for i in wanted]), strict=True))
        strong = [place for place in wanted if verdicts[place].class_sizes is not None]
        strings = [path_string(found.paths[place].path, self._rules.path_string) for place in strong]
        raw = raw_distances(strings, context.resource("embedding"))
        judged = _Judged(found, verdicts, strong, raw, self._least_true)
        scores, added = self._scores(judged)
        return Score(scores, sample_details(self._rules, found, verdicts, strong, raw, added))

    def judged_parts(self, details: Mapping[str, Any]) -> Sequence[JudgedPart]:
        """Return the judged paths and triples of a sample, for people's labels of them."""
        return judged_parts(details)

    def _scores(self, judged: _Judged) -> tuple[dict[str, float], dict[int, float]]:
        """Return the scores, and the gain of each path by index."""
        rules = self._rules
        scores: dict[str, float] = {}
        for rule in (rules.validity, *self._also):
            qualities, distances, _ = judged.counted(rule, rules)
            suffix = "" if rule == rules.validity else f"_{rule}"
            worths = utilities(qualities, distances, rules, PATIENCES)
            names = [f"creative_utility{suffix}@{patience:.1f}" for patience in PATIENCES]
            scores |= dict(zip(names, worths, strict=True))
        qualities, distances, places = judged.counted(rules.validity, rules)
        if len(qualities) <= MOST_PATHS:
            exact = exact_utility(qualities, distances, MAIN_PATIENCE)
            greedy = discounted(best_order(qualities, distances, rules, MAIN_PATIENCE).gains, MAIN_PATIENCE)
            scores |= {"exact_utility@0.9": exact, "exact_gap@0.9": max(0.0, exact - greedy)}
        ordered = best_order(qualities, distances, rules, MAIN_PATIENCE)
        scores |= {
            "strength": float(max(qualities, default=0)),
            "valid": float(len(judged.found.valid(rules.validity))),
            "paths": float(len(qualities)),
            "useful": float(sum(gain >= _USEFUL for gain in ordered.gains)),
        }
        mean = mean_distance(distances)
        if mean is not None:
            scores["distance"] = mean
        triples = [true for place in judged.found.valid(rules.validity) for true in judged.verdicts[place].factual]
        if triples:
            scores |= {"triples": float(len(triples)), "factuality": sum(triples) / len(triples)}
        return scores, {places[i]: gain for i, gain in zip(ordered.order, ordered.gains, strict=True)}


class _Judged:
    """A sample's paths with their verdicts, and the cosine distances of those with a known strength."""

    def __init__(
        self,
        found: Candidates,
        verdicts: dict[int, Verdict],
        strong: Sequence[int],
        raw: np.ndarray,
        least_true: float,
    ) -> None:
        self.found = found
        self._least_true = least_true
        self.verdicts = verdicts
        self._row = {place: row for row, place in enumerate(strong)}
        self._raw = raw

    def counted(self, rule: Validity, rules: Rules) -> tuple[list[int], np.ndarray, list[int]]:
        """Return strengths, distances and indices of the paths that count under a rule of validity."""
        true = {place: self.verdicts[place].factual for place in self.found.valid(rule)}
        places = [place for place, said in true.items() if sum(said) >= self._least_true * len(said)]
        sizes = [self.verdicts[place].class_sizes for place in places]
        qualities = [path_strength(each, rules.last_triple) for each in sizes if each is not None]
        rows = [self._row[place] for place in places]
        return qualities, transformed(self._raw[np.ix_(rows, rows)], rules.over_one), places

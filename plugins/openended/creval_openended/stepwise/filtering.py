"""The filter of a task on its solutions, applied to the scores of every scorer alike (Appendix F; Tables 5 and 18)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from creval.plugin import MissingScore, Score, Status
from creval_openended.stepwise.outcome import has_filter, left_out

__all__ = ["UNFILTERED", "filtered"]

UNFILTERED = "_unfiltered"
"""Suffix of scores that also count the solutions which the task leaves out."""


def filtered(
    score: Score, outcome: Mapping[str, Any], unfiltered: Collection[str] = (), stays: Collection[str] = ()
) -> Score:
    """Return the scores of a solution as the filter of its task (`stepwise.outcome`) leaves them.

    A solution that is left out has only the scores in `stays`. Those named in `unfiltered` are repeated as
    NAME_unfiltered, of all solutions. Without a filter nothing changes.
    """
    if not has_filter(outcome):
        return score
    scores, missing = dict(score.scores), dict(score.missing)
    for name in unfiltered:
        if name in scores:
            scores[name + UNFILTERED] = scores[name]
        elif name in missing:
            missing[name + UNFILTERED] = missing[name]
    reason = left_out(outcome)
    if reason is not None:
        for name in [name for name in (*scores, *missing) if name not in stays and not name.endswith(UNFILTERED)]:
            scores.pop(name, None)
            missing[name] = MissingScore(Status.SKIPPED, reason)
    return replace(score, scores=scores, missing=missing)

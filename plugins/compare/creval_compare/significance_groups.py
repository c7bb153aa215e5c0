"""Which of several runs cannot be told apart in a metric, as letters for tables of models."""

from __future__ import annotations

from collections.abc import Sequence

from creval.plugin import CrevalError, Run
from creval_compare.metric_comparison import ComparisonRequest, compare_runs

__all__ = ["MOST_TESTED", "significance_groups"]

MOST_TESTED = 20
"""Among more runs than this no pairs are tested: their number grows with the square."""


def significance_groups(runs: Sequence[Run], task: str, metric: str, condition: str | None) -> list[str] | None:
    """Return for each run its groups: runs that share a letter cannot be told apart (as `creval compare` says it).

    None if the runs' scores cannot be compared, and for more than MOST_TESTED runs.
    """
    if not 2 <= len(runs) <= MOST_TESTED:
        return None
    try:
        found, _ = compare_runs([run.as_stored() for run in runs], ComparisonRequest((task,), (metric,)))
    except CrevalError:
        return None
    for each in found:
        if each.metric == metric and each.condition == condition:
            letters = {ranked.run: ranked.groups for ranked in each.ranking}
            return [letters[place] for place in range(len(runs))]
    return None

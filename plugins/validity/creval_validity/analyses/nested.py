"""Nested regressions over a table of scores, written as `target ~ a + b | c`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from creval.plugin import UsageError
from creval_validity.stats.regression import NestedComparison, compare_nested
from creval_validity.tables.score_table import ScoreTable

__all__ = ["NestedRequest", "analyse_nested", "parse_nested"]

_FORM = "Write it as 'benchmark ~ test + test | added test', e.g. 'liveideabench ~ dat + rat | drat'."


@dataclass(frozen=True, slots=True)
class NestedRequest:
    """The question whether `added` improves the prediction of `target` beyond `base`."""

    target: str
    base: tuple[str, ...]
    added: tuple[str, ...]

    def reversed(self) -> NestedRequest:
        """Return the opposite question: whether `base` improves the prediction beyond `added`."""
        return NestedRequest(self.target, self.added, self.base)


def parse_nested(text: str) -> NestedRequest:
    """Parse `target ~ base + base | added + added`. Raises UsageError if malformed."""
    parts = re.split(r"[~|]", text)
    if len(parts) != 3 or text.find("~") > text.find("|"):
        raise UsageError(f"{text!r} is not a nested comparison", fix=_FORM)
    target, base, added = (tuple(name.strip() for name in part.split("+")) for part in parts)
    if len(target) != 1 or "" in (*target, *base, *added):
        raise UsageError(f"{text!r} is not a nested comparison", fix=_FORM)
    return NestedRequest(target[0], base, added)


def analyse_nested(table: ScoreTable, request: NestedRequest) -> NestedComparison:
    """Compare the two regressions on the models that have the target and every predictor.

    Raises UnknownNameError for a column that is not in the table, DataError for too few models.
    """
    mask = table.pool((request.target, *request.base, *request.added))
    return compare_nested(
        (request.target, table.column(request.target)[mask]),
        {name: table.column(name)[mask] for name in request.base},
        {name: table.column(name)[mask] for name in request.added},
    )

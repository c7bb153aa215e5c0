"""Comparisons as rows: one per metric for two runs, one per run and metric for several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from creval.plugin import Run
from creval.plugin.comparing import decimals, labels, number, without_empty
from creval_compare.metric_comparison import Comparison

__all__ = [
    "PAIR_COLUMNS",
    "RANK_COLUMNS",
    "flips",
    "marked",
    "names_of",
    "pair_rows",
    "rank_rows",
    "readable",
]

PAIR_COLUMNS = (
    *("task", "metric", "condition", "docs", "first", "second", "difference", "low", "high", "p"),
    *("test", "interval", "detectable", "verdict"),
)
RANK_COLUMNS = ("task", "metric", "condition", "docs", "rank", "run", "value", "groups", "next", "p to next")


def names_of(runs: Sequence[Run]) -> list[str]:
    """Return a name for each run: its model, with the folder where several have it."""
    return labels([(run.model, run.folder.name) for run in runs])


def pair_rows(comparisons: Sequence[Comparison]) -> list[list[Any]]:
    """Return the rows of two runs, in the columns of PAIR_COLUMNS; numbers in full."""
    rows: list[list[Any]] = []
    for each in comparisons:
        (contrast,) = each.contrasts
        found = contrast.difference
        rows.append(
            [
                *(each.task, each.metric, each.condition, each.docs, found.one, found.other, found.value),
                *(found.low, found.high, contrast.p_value, found.test, found.method, found.detectable),
                contrast.verdict,
            ]
        )
    return rows


def marked(rows: Sequence[Sequence[Any]], comparisons: Sequence[Comparison]) -> list[list[Any]]:
    """Return rows of either kind with a star at the primary metrics."""
    primary = {(each.task, each.metric) for each in comparisons if each.primary}
    return [[row[0], f"{row[1]} *" if (row[0], row[1]) in primary else row[1], *row[2:]] for row in rows]


def readable(rows: Sequence[Sequence[Any]]) -> tuple[list[str], list[list[Any]]]:
    """Return columns and rows for people: an interval is one cell, empty columns are left out."""
    columns = ["task", "metric", "condition", "docs", "first", "second", "difference", "95 % interval"]
    columns += ["p", "detectable", "verdict"]
    found = [[*row[:7], _interval(*row[6:9]), _p_value(row[9]), row[12], row[13]] for row in rows]
    return without_empty(columns, found, ["condition"])


def rank_rows(comparisons: Sequence[Comparison], names: Sequence[str]) -> list[list[Any]]:
    """Return the rows of several runs, in the columns of RANK_COLUMNS; a run's last cells compare it with the next."""
    rows: list[list[Any]] = []
    for each in comparisons:
        for rank, ranked in enumerate(each.ranking, 1):
            verdict, p_value = _to_next(each, rank - 1)
            about = [each.task, each.metric, each.condition, each.docs]
            rows.append([*about, rank, names[ranked.run], ranked.value, ranked.groups, verdict, p_value])
    return rows


def _to_next(each: Comparison, place: int) -> tuple[str | None, float | None]:
    """Return the comparison of a run with the next one."""
    if place + 1 >= len(each.ranking):
        return None, None
    own, other = each.ranking[place].run, each.ranking[place + 1].run
    contrast = next(one for one in each.contrasts if {one.first, one.second} == {own, other})
    turned = {"better": "worse", "worse": "better", "higher": "lower", "lower": "higher"}
    verdict = contrast.verdict if contrast.second == own else turned.get(contrast.verdict, contrast.verdict)
    return verdict, contrast.p_value


def flips(comparisons: Sequence[Comparison], most: int) -> Iterator[str]:
    """Yield for each metric with one 0/1 per doc which docs only one of two runs solved."""
    for each in comparisons:
        (contrast,) = each.contrasts
        where = f" at {each.condition}" if each.condition else ""
        for words, docs in (("second", contrast.difference.gained), ("first", contrast.difference.lost)):
            if docs:
                more = f" and {len(docs) - most} more" if len(docs) > most else ""
                yield f"{each.task}, {each.metric}{where}: solved only by the {words} ({len(docs)}): " + (
                    ", ".join(docs[:most]) + more
                )


def _interval(value: float | None, low: float | None, high: float | None) -> str | None:
    if value is None or low is None or high is None:
        return None
    places = min(4, max(decimals(value), decimals(high - low)))
    return f"{number(low, places)} to {number(high, places)}"


def _p_value(value: float | None) -> str | None:
    if value is None:
        return None
    return "< .0001" if value < 0.0001 else f"{value:.4f}"

"""Construct scores against release dates (Figure 1): the analysis behind `creval analyse trend`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from creval.plugin import DataError, UsageError
from creval_validity.stats.composite import Gaps, mean_z
from creval_validity.stats.line import Line, fit_line
from creval_validity.tables.catalogue import constructs_of
from creval_validity.tables.score_table import ScoreTable

__all__ = ["DAYS_PER_YEAR", "ConstructTrend", "TrendPoint", "TrendRequest", "TrendResult", "analyse_trend"]

DAYS_PER_YEAR = 365.25


@dataclass(frozen=True, slots=True)
class TrendRequest:
    """What to draw: `benchmarks` by construct. `gaps` as in `mean_z`; Figure 1 requires `available`, since few models
    have every benchmark of a construct."""

    benchmarks: tuple[str, ...]
    gaps: Gaps = "available"
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not self.benchmarks:
            raise UsageError("no benchmark to follow over time", fix="Name at least one benchmark.")


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One model: release date and construct score (mean z over the construct's benchmarks)."""

    model: str
    provider: str
    released: date
    score: float


@dataclass(frozen=True, slots=True)
class ConstructTrend:
    """A construct's points by date, and the line fitted to them; `line.slope` is in z per year, x is in years since
    `origin`. `undated` models have a score but no date."""

    construct: str
    benchmarks: tuple[str, ...]
    points: tuple[TrendPoint, ...]
    origin: date
    line: Line
    undated: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrendResult:
    """One trend per construct; `skipped` names constructs without a trend, with the reason."""

    request: TrendRequest
    trends: tuple[ConstructTrend, ...]
    skipped: tuple[tuple[str, str], ...]


def analyse_trend(table: ScoreTable, request: TrendRequest) -> TrendResult:
    """Standardise each benchmark over all models, average within constructs, and fit the score on the release date.

    Raises DataError if no construct has four dated models.
    """
    trends: list[ConstructTrend] = []
    skipped: list[tuple[str, str]] = []
    for construct, benchmarks in constructs_of(request.benchmarks).items():
        try:
            trends.append(_trend(table, construct, benchmarks, request))
        except DataError as error:
            skipped.append((construct, error.what))
    if not trends:
        raise DataError(
            "no construct can be followed over time: " + "; ".join(f"{name}: {why}" for name, why in skipped),
            fix="Give a CSV with the columns model and date (2025-08-07); the paper prints no release dates.",
        )
    return TrendResult(request, tuple(trends), tuple(skipped))


def _trend(table: ScoreTable, construct: str, benchmarks: Sequence[str], request: TrendRequest) -> ConstructTrend:
    scores = mean_z([table.column(name) for name in benchmarks], benchmarks, request.gaps)
    scored = [(model, float(score)) for model, score in zip(table.models, scores, strict=True) if np.isfinite(score)]
    points = sorted(
        (
            TrendPoint(model, table.providers.get(model, ""), table.dates[model], score)
            for model, score in scored
            if model in table.dates
        ),
        key=lambda point: (point.released, point.model),
    )
    if not points:
        raise DataError(f"none of the {len(scored)} models with a score has a date")
    origin = points[0].released
    years = np.array([(point.released - origin).days / DAYS_PER_YEAR for point in points])
    line = fit_line(years, np.array([point.score for point in points]), construct, request.confidence)
    undated = tuple(model for model, _ in scored if model not in table.dates)
    return ConstructTrend(construct, tuple(benchmarks), tuple(points), origin, line, undated)

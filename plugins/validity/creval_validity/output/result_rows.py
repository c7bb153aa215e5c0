"""Results as columns and rows of plain values: numbers, text, or None if there is no number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creval.plugin.report import write_csv
from creval_validity.analyses.ablation import AblationResult
from creval_validity.analyses.reproduction import Comparison
from creval_validity.analyses.trend import TrendResult
from creval_validity.analyses.validity import Cell, ValidityResult
from creval_validity.stats.correlation import Correlation
from creval_validity.stats.regression import NestedComparison

__all__ = ["Rows", "ablation_rows", "comparison_rows", "nested_rows", "trend_point_rows", "trend_rows", "validity_rows"]


@dataclass(frozen=True, slots=True)
class Rows:
    """A table for display and files: each column has one title and one name."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def write(self, path: Path) -> Path:
        """Write the columns and rows as CSV, and return the path. Raises UsageError if writing fails."""
        return write_csv(path, self.columns, self.rows)


_CORRELATION = ("r", "p", "q", "low", "high", "boot_low", "boot_high")
_CELL = (
    "test",
    "benchmark",
    "construct",
    "n",
    *(f"validity_{part}" for part in _CORRELATION),
    *(f"specificity_{part}" for part in _CORRELATION),
    "coupling",
    "ceiling",
    "headroom",
    "distance",
    "reason",
)


def _correlation(found: Correlation | None, q: float | None) -> tuple[float | None, ...]:
    if found is None:
        return (None,) * len(_CORRELATION)
    boot = found.bootstrap
    return (
        found.r,
        found.p,
        q,
        found.fisher.low,
        found.fisher.high,
        boot.low if boot else None,
        boot.high if boot else None,
    )


def _cell(cell: Cell) -> tuple[Any, ...]:
    return (
        cell.test,
        cell.benchmark,
        cell.construct,
        cell.n,
        *_correlation(cell.validity, cell.validity_q),
        *_correlation(cell.specificity, cell.specificity_q),
        cell.coupling,
        cell.ceiling,
        cell.headroom,
        cell.distance,
        cell.reason,
    )


def validity_rows(result: ValidityResult) -> Rows:
    """Return one row per test and benchmark."""
    return Rows("Validity and specificity", _CELL, tuple(_cell(cell) for cell in result.cells))


def ablation_rows(results: Sequence[AblationResult]) -> Rows:
    """Return one row per factor, level and benchmark, with the paper's values if printed."""
    rows = [
        (
            result.factor,
            level.level,
            level.paper.validity if level.paper else None,
            level.paper.specificity if level.paper else None,
            *_cell(level.cell),
        )
        for result in results
        for level in result.levels
    ]
    columns = ("factor", "level", "paper_validity", "paper_specificity", *_CELL)
    return Rows("Ablations", columns, tuple(rows))


def nested_rows(results: Iterable[NestedComparison]) -> Rows:
    """Return one row per nested comparison."""
    columns = (
        "target",
        "base",
        "added",
        "n",
        "r2_base",
        "f_base",
        "p_base",
        "r2_full",
        "adjusted_r2_full",
        "delta_r2",
        "f",
        "df1",
        "df2",
        "p",
    )
    rows = [
        (
            result.target,
            " + ".join(result.base_names),
            " + ".join(result.added_names),
            result.n,
            result.base.r2,
            result.base.f,
            result.base.p,
            result.full.r2,
            result.full.adjusted_r2,
            result.delta_r2,
            result.f,
            result.df1,
            result.df2,
            result.p,
        )
        for result in results
    ]
    return Rows("Nested regressions", columns, tuple(rows))


def trend_rows(result: TrendResult) -> Rows:
    """Return one row per construct: the slope in z per year with its interval."""
    columns = (
        "construct",
        "benchmarks",
        "n",
        "slope_per_year",
        "standard_error",
        "low",
        "high",
        "p",
        "r",
        "first",
        "last",
        "undated",
    )
    rows = [
        (
            trend.construct,
            " + ".join(trend.benchmarks),
            trend.line.n,
            trend.line.slope,
            trend.line.standard_error,
            trend.line.low,
            trend.line.high,
            trend.line.p,
            trend.line.r,
            trend.points[0].released.isoformat(),
            trend.points[-1].released.isoformat(),
            len(trend.undated),
        )
        for trend in result.trends
    ]
    return Rows("Construct scores over time", columns, tuple(rows))


def trend_point_rows(result: TrendResult) -> Rows:
    """Return one row per construct and model: its release date and construct score."""
    rows = [
        (trend.construct, point.model, point.provider or None, point.released.isoformat(), point.score)
        for trend in result.trends
        for point in trend.points
    ]
    return Rows("Models over time", ("construct", "model", "provider", "released", "score"), tuple(rows))


def comparison_rows(comparisons: Iterable[Comparison]) -> Rows:
    """Return one row per number of Table 1, next to its recomputation."""
    columns = (
        "test",
        "benchmark",
        "criterion",
        "block",
        "n",
        "printed",
        "recomputed",
        "difference",
        "p",
        "rounding_low",
        "rounding_high",
        "one_model_low",
        "one_model_high",
        "cause",
    )
    rows = [
        (
            c.test,
            c.benchmark,
            c.criterion,
            c.block,
            c.n,
            c.printed,
            c.recomputed,
            c.difference,
            c.p,
            c.rounding.low,
            c.rounding.high,
            c.one_model.low,
            c.one_model.high,
            c.cause,
        )
        for c in comparisons
    ]
    return Rows("Table 1 recomputed from Tables 3 and 4", columns, tuple(rows))

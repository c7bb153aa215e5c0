"""Results as tables in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval_validity.analyses.validity import Cell, ValidityResult
from creval_validity.stats.correlation import Correlation
from creval_validity.tables.catalogue import label

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["cell_text", "chance", "number", "validity_table"]


def number(value: float | None, digits: int = 2, sign: bool = True) -> str:
    """Format a number; `-` for None, never `-0.00`."""
    if value is None:
        return "-"
    rounded = round(value, digits) + 0.0
    return f"{rounded:+.{digits}f}" if sign else f"{rounded:.{digits}f}"


def chance(value: float | None) -> str:
    """Format a p- or q-value: `<.001`, or three decimals."""
    if value is None:
        return "-"
    return "<.001" if value < 0.001 else f"{value:.3f}"


def cell_text(found: Correlation | None) -> str:
    """Return r with the stars of its p-value, as in Table 1."""
    return number(found.r) + found.stars if found else "-"


def validity_table(result: ValidityResult) -> Table:
    """Return the tests by benchmarks with validity / specificity and n, in the layout of Table 1."""
    from rich.table import Table

    table = Table(title="Validity / specificity (n)", caption="* p<.05  ** p<.01  *** p<.001  - none")
    table.add_column("test")
    for benchmark in result.request.benchmarks:
        table.add_column(label(benchmark), justify="right")
    for test in result.request.tests:
        cells = [result.cell(test, benchmark) for benchmark in result.request.benchmarks]
        table.add_row(label(test), *(_both(cell) for cell in cells))
    return table


def _both(cell: Cell) -> str:
    return f"{cell_text(cell.validity)} / {cell_text(cell.specificity)} ({cell.n})"

"""The paper's tables as data: Tables 3 and 4 for computation, the others for comparison.

Source of all of them: arXiv:2605.13450v1 (CC BY 4.0). `data/README.md` says how each row was read.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from creval_validity.tables.catalogue import names_of
from creval_validity.tables.csv_table import read_csv_text
from creval_validity.tables.merge import merge
from creval_validity.tables.score_table import ScoreTable

__all__ = [
    "PaperAblation",
    "PaperCell",
    "PaperCorrelation",
    "PaperRegression",
    "Reading",
    "paper_ablations",
    "paper_correlations",
    "paper_regressions",
    "paper_table1",
    "readings",
    "shipped_table",
    "table3",
    "table3_standard_errors",
    "table4",
]


@dataclass(frozen=True, slots=True)
class PaperCell:
    """One cell of Table 1 (or Table 5, column max, for the DRAT): r and r|g as printed, with their stars."""

    block: str
    test: str
    benchmark: str
    validity: float
    validity_stars: str
    specificity: float
    specificity_stars: str


@dataclass(frozen=True, slots=True)
class PaperCorrelation:
    """A correlation between two columns, from the text or Table 2."""

    place: str
    x: str
    y: str
    r: float


@dataclass(frozen=True, slots=True)
class PaperAblation:
    """One cell of Tables 5 and 6 or a value of Section 4.5: a level of a factor of the DRAT."""

    place: str
    factor: str
    level: str
    benchmark: str
    validity: float
    specificity: float


@dataclass(frozen=True, slots=True)
class PaperRegression:
    """A nested comparison of Section 4.4. `p_base` is the overall F test of the smaller model, where stated."""

    target: str
    base: tuple[str, ...]
    added: tuple[str, ...]
    r2_base: float
    p_base: float | None
    r2_full: float
    f: float
    df1: int
    df2: int
    p: float


@dataclass(frozen=True, slots=True)
class Reading:
    """How we read a row whose dashes were lost in the text: the columns that have a value, and why.

    `alternatives` is the number of readings that are consistent with column order and value ranges.
    """

    table: int
    model: str
    columns: tuple[str, ...]
    alternatives: int
    reason: str


def _rows(name: str) -> list[dict[str, str]]:
    text = (files("creval_validity") / "data" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


@cache
def _table3() -> ScoreTable:
    return read_csv_text((files("creval_validity") / "data" / "tests.csv").read_text(encoding="utf-8"), "tests.csv")


def table3() -> ScoreTable:
    """Return Table 3: 55 models, seven tests."""
    return _table3().only(names_of("test"))


def table3_standard_errors() -> ScoreTable:
    """Return the standard errors of the means in Table 3 (the RAT has none), as `<test>_sem`."""
    return _table3().only(name for name in _table3().columns if name.endswith("_sem"))


@cache
def table4() -> ScoreTable:
    """Return Table 4: 71 models, six benchmarks and two measures of general capability."""
    name = "benchmarks.csv"
    return read_csv_text((files("creval_validity") / "data" / name).read_text(encoding="utf-8"), name)


def shipped_table() -> ScoreTable:
    """Return Tables 3 and 4 side by side (71 models)."""
    return merge(table3(), table4())


@cache
def paper_table1() -> tuple[PaperCell, ...]:
    """Return Table 1 (126 cells) and Table 5's column max (the DRAT's six) as printed."""
    return tuple(
        PaperCell(
            row["block"],
            row["test"],
            row["benchmark"],
            float(row["validity"]),
            row["validity_stars"],
            float(row["specificity"]),
            row["specificity_stars"],
        )
        for row in _rows("table1.csv")
    )


@cache
def paper_correlations() -> tuple[PaperCorrelation, ...]:
    """Return the correlations of Section 2.3 and of Table 2."""
    return tuple(PaperCorrelation(r["place"], r["x"], r["y"], float(r["r"])) for r in _rows("correlations.csv"))


@cache
def paper_ablations() -> tuple[PaperAblation, ...]:
    """Return Tables 5 and 6 and the values of Section 4.5."""
    return tuple(
        PaperAblation(
            row["place"],
            row["factor"],
            row["level"],
            row["benchmark"],
            float(row["validity"]),
            float(row["specificity"]),
        )
        for row in _rows("ablations.csv")
    )


@cache
def paper_regressions() -> tuple[PaperRegression, ...]:
    """Return the two nested comparisons of Section 4.4."""
    return tuple(
        PaperRegression(
            row["target"],
            tuple(row["base"].split("+")),
            tuple(row["added"].split("+")),
            float(row["r2_base"]),
            float(row["p_base"]) if row["p_base"] else None,
            float(row["r2_full"]),
            float(row["f"]),
            int(row["df1"]),
            int(row["df2"]),
            float(row["p"]),
        )
        for row in _rows("regressions.csv")
    )


@cache
def readings() -> tuple[Reading, ...]:
    """Return how every row with a gap was read."""
    return tuple(
        Reading(int(row["table"]), row["model"], tuple(row["columns"].split()), int(row["alternatives"]), row["reason"])
        for row in _rows("readings.csv")
    )

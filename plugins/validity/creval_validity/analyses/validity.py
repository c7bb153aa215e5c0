"""Which test predicts which benchmark, beyond general capability: the analysis behind `creval analyse validity`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from creval.plugin import DataError, UsageError
from creval_validity.stats.bootstrap import Bootstrap, bootstrap_intervals
from creval_validity.stats.correlation import Correlation, coupling, specificity, validity
from creval_validity.stats.frontier import Frontier
from creval_validity.stats.multiple_testing import benjamini_hochberg
from creval_validity.stats.sample import PairedSample
from creval_validity.tables.catalogue import CAPABILITIES, constructs_of, describe
from creval_validity.tables.score_table import ScoreTable

__all__ = ["Cell", "ConstructMean", "Panel", "Pool", "ValidityRequest", "ValidityResult", "analyse_validity"]

Pool = Literal["same", "each"]


@dataclass(frozen=True, slots=True)
class ValidityRequest:
    """What to compute.

    `pool`: `same` computes validity and specificity on the same models (those with test, benchmark and every
    capability measure), as in Table 1; `each` computes validity on all models with test and benchmark.
    If `bootstrap` is None, there are no bootstrap intervals.
    """

    tests: tuple[str, ...]
    benchmarks: tuple[str, ...]
    capabilities: tuple[str, ...] = CAPABILITIES
    pool: Pool = "same"
    confidence: float = 0.95
    bootstrap: Bootstrap | None = field(default_factory=Bootstrap)

    def __post_init__(self) -> None:
        if not self.tests or not self.benchmarks:
            raise UsageError("nothing to correlate", fix="Name at least one test and one benchmark.")
        for one, other in (("tests", "benchmarks"), ("tests", "capabilities"), ("benchmarks", "capabilities")):
            both = sorted(set(getattr(self, one)) & set(getattr(self, other)))
            if both:
                raise UsageError(f"{', '.join(both)} are among both the {one} and the {other}", fix="Name each once.")


@dataclass(frozen=True, slots=True)
class Cell:
    """One test against one benchmark.

    `n` models have all scores that the specificity requires. `coupling` is R of Theorem 1 on these models,
    `ceiling` the largest specificity at this validity, `distance` the distance to (v*, s*). `validity_q` and
    `specificity_q` are adjusted for all cells of the analysis (Benjamini-Hochberg, one family each).
    A number that is not available is None, and `reason` says why.
    """

    test: str
    benchmark: str
    construct: str
    n: int
    models: tuple[str, ...]
    validity: Correlation | None = None
    specificity: Correlation | None = None
    validity_q: float | None = None
    specificity_q: float | None = None
    coupling: float | None = None
    ceiling: float | None = None
    distance: float | None = None
    headroom: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """A benchmark as a whole: its coupling to capability over all its models with a test score, and the optimum."""

    benchmark: str
    construct: str
    n: int
    coupling: float | None
    optimum: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ConstructMean:
    """A test's mean validity and specificity over a construct's benchmarks; `cells` of them had both."""

    construct: str
    test: str
    cells: int
    validity: float
    specificity: float


@dataclass(frozen=True, slots=True)
class ValidityResult:
    """Cells (tests by benchmarks, in the order of the request), panels and construct means."""

    request: ValidityRequest
    cells: tuple[Cell, ...]
    panels: tuple[Panel, ...]
    constructs: tuple[ConstructMean, ...]

    def cell(self, test: str, benchmark: str) -> Cell:
        """Return one cell. Raises UsageError if it is not in the result."""
        for cell in self.cells:
            if (cell.test, cell.benchmark) == (test, benchmark):
                return cell
        raise UsageError(f"{test} against {benchmark} is not part of this analysis", fix="Name both.")


def analyse_validity(table: ScoreTable, request: ValidityRequest) -> ValidityResult:
    """Compute validity and specificity of every test for every benchmark.

    Raises UnknownNameError for a column that is not in the table, and DataError if no cell can be
    computed. A cell with too few models or no variance is kept, with the reason.
    """
    for name in (*request.tests, *request.benchmarks, *request.capabilities):
        table.column(name)
    cells = [_cell(table, request, test, benchmark) for test in request.tests for benchmark in request.benchmarks]
    if all(cell.validity is None for cell in cells):
        raise DataError(
            f"no test can be compared with any benchmark: {cells[0].reason}",
            fix="Add models (runs, a CSV, the shipped tables) or ask for other columns.",
        )
    adjusted = _adjust(cells)
    return ValidityResult(
        request=request,
        cells=tuple(adjusted),
        panels=tuple(_panel(table, request, benchmark) for benchmark in request.benchmarks),
        constructs=tuple(_construct_means(adjusted, request)),
    )


def _sample(table: ScoreTable, test: str, benchmark: str, controls: Sequence[str]) -> PairedSample:
    mask = table.pool((test, benchmark, *controls))
    stack = [table.column(name)[mask] for name in controls]
    return PairedSample(
        x=table.column(test)[mask],
        y=table.column(benchmark)[mask],
        controls=np.column_stack(stack) if stack else np.empty((int(mask.sum()), 0)),
        names=(test, benchmark),
    )


def _cell(table: ScoreTable, request: ValidityRequest, test: str, benchmark: str) -> Cell:
    mask = table.pool((test, benchmark, *request.capabilities))
    cell = Cell(
        test=test,
        benchmark=benchmark,
        construct=describe(benchmark, "benchmark").construct or benchmark,
        n=int(mask.sum()),
        models=table.names_in(mask),
    )
    reasons: list[str] = []
    if request.pool == "each":
        try:
            cell = replace(cell, validity=_raw(_sample(table, test, benchmark, ()), request))
        except DataError as error:
            reasons.append(error.what)
    try:
        sample = _sample(table, test, benchmark, request.capabilities)
        if request.pool == "same":
            cell = replace(cell, validity=_raw(sample, request))
        cell = _with_specificity(cell, sample, request)
    except DataError as error:
        reasons.append(error.what)
    return replace(cell, reason="; ".join(dict.fromkeys(reasons)) or None)


def _raw(sample: PairedSample, request: ValidityRequest) -> Correlation:
    found = validity(sample, request.confidence)
    if request.bootstrap is None:
        return found
    return replace(found, bootstrap=bootstrap_intervals(sample.without_controls(), request.bootstrap)[0])


def _with_specificity(cell: Cell, sample: PairedSample, request: ValidityRequest) -> Cell:
    found = specificity(sample, request.confidence)
    if request.bootstrap is not None:
        found = replace(found, bootstrap=bootstrap_intervals(sample, request.bootstrap)[1])
    # the bound requires numbers from one set of models, regardless of the pool of the reported validity
    v = validity(sample, request.confidence).r
    r = coupling(sample.y, sample.controls, sample.names[1])
    frontier = Frontier(r)
    return replace(
        cell,
        specificity=found,
        coupling=r,
        ceiling=frontier.upper(v),
        distance=frontier.distance(v, found.r),
        headroom=frontier.headroom(v, found.r),
    )


def _adjust(cells: Sequence[Cell]) -> list[Cell]:
    with_v = [cell for cell in cells if cell.validity is not None]
    with_s = [cell for cell in cells if cell.specificity is not None]
    v_q = dict(zip(map(id, with_v), benjamini_hochberg([c.validity.p for c in with_v if c.validity]), strict=True))
    s_q = dict(
        zip(map(id, with_s), benjamini_hochberg([c.specificity.p for c in with_s if c.specificity]), strict=True)
    )
    return [replace(cell, validity_q=v_q.get(id(cell)), specificity_q=s_q.get(id(cell))) for cell in cells]


def _panel(table: ScoreTable, request: ValidityRequest, benchmark: str) -> Panel:
    tested = np.zeros(len(table.models), dtype=np.bool_)
    for test in request.tests:
        tested |= np.isfinite(table.column(test))
    mask = table.pool((benchmark, *request.capabilities)) & tested
    construct = describe(benchmark, "benchmark").construct or benchmark
    n = int(mask.sum())
    if n < len(request.capabilities) + 4:
        return Panel(benchmark, construct, n, None, None, f"{n} models are too few")
    stack = [table.column(name)[mask] for name in request.capabilities]
    controls = np.column_stack(stack) if stack else np.empty((n, 0))
    try:
        r = coupling(table.column(benchmark)[mask], controls, benchmark)
    except DataError as error:
        return Panel(benchmark, construct, n, None, None, error.what)
    return Panel(benchmark, construct, n, r, Frontier(r).optimum[0])


def _construct_means(cells: Sequence[Cell], request: ValidityRequest) -> list[ConstructMean]:
    means: list[ConstructMean] = []
    for construct, benchmarks in constructs_of(request.benchmarks).items():
        for test in request.tests:
            pairs = [
                (cell.validity.r, cell.specificity.r)
                for cell in cells
                if cell.test == test and cell.benchmark in benchmarks and cell.validity and cell.specificity
            ]
            if pairs:
                v, s = np.mean(pairs, axis=0)
                means.append(ConstructMean(construct, test, len(pairs), float(v), float(s)))
    return means

"""`creval analyse validity`: reads the options, runs the analyses, writes the files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from creval.plugin import AnalysisOutput, DataError, FieldSpec, UnknownNameError
from creval.plugin.report import plain_data, write_json
from creval_validity.analyses.ablation import AblationResult, analyse_ablation, known_ablations, parse_ablation
from creval_validity.analyses.analysis_options import (
    BOOTSTRAP,
    INPUTS,
    bootstrap_of,
    chosen,
    inputs_of,
    texts,
    with_composites,
)
from creval_validity.analyses.nested import NestedRequest, analyse_nested, parse_nested
from creval_validity.analyses.validity import Cell, ValidityRequest, ValidityResult, analyse_validity
from creval_validity.output.result_rows import Rows, ablation_rows, nested_rows, validity_rows
from creval_validity.output.text import cell_text, chance, number
from creval_validity.stats.matrix import correlation_matrix
from creval_validity.stats.regression import NestedComparison
from creval_validity.tables.catalogue import CAPABILITIES
from creval_validity.tables.inputs import Columns, assemble, choose_columns
from creval_validity.tables.score_table import ScoreTable

__all__ = ["ValidityAnalysis", "ValidityFindings"]

_FEW = 25
_DEFAULT_NESTED = NestedRequest("liveideabench", ("dat", "rat"), ("drat",))


@dataclass(frozen=True, slots=True)
class ValidityFindings:
    """All results of one call of the analysis."""

    table: ScoreTable
    result: ValidityResult
    nested: tuple[NestedComparison, ...]
    ablations: tuple[AblationResult, ...]
    notes: tuple[str, ...]


class ValidityAnalysis:
    """Kind `analysis`: which test predicts which benchmark, beyond general capability."""

    example = "--json"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse validity`."""
        return (
            *INPUTS,
            FieldSpec("test", "string", (), "Columns that are tests; default: every known one.", True),
            FieldSpec("benchmark", "string", (), "Columns that are benchmarks; default: every known one.", True),
            FieldSpec(
                "capability",
                "string",
                CAPABILITIES,
                "Columns that are measures of general capability; `none` leaves them out.",
                True,
            ),
            FieldSpec("pool", "string", "same", "Models of the validity: same (as the specificity), each."),
            FieldSpec("composite", "string", (), "A mean of z-scores, e.g. 'dat_overall=dat+dat[sbert]'.", True),
            FieldSpec(
                "nested",
                "string",
                (),
                "Nested regression, e.g. 'liveideabench ~ dat + rat | drat'; `none` for none.",
                True,
            ),
            FieldSpec("ablation", "string", (), "A factor, e.g. 'k: 2=drat_k2, 3=drat_k3, 4=drat'.", True),
            *BOOTSTRAP,
            FieldSpec("output", "file", None, "Folder for CSV, JSON and plots."),
            FieldSpec("no_plots", "boolean", False, "Write no plots."),
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Run the analysis and write its files if `output` names a folder."""
        found = find_validity(runs, options)
        files: list[Path] = []
        if options.get("output"):
            files = write_findings(found, Path(str(options["output"])), plots=not options.get("no_plots"))
        return AnalysisOutput(
            title="Validity r and specificity r|g",
            columns=_SHORT,
            rows=[_short(cell) for cell in found.result.cells],
            notes=[*found.notes, *_reading(found)],
            files=[str(path) for path in files],
            data=_data(found),
        )


def find_validity(runs: Sequence[str], options: dict[str, Any]) -> ValidityFindings:
    """Assemble the scores and compute all results, without writing files."""
    assembled = assemble(inputs_of(runs, options))
    table, composites = with_composites(assembled.table, tuple(options.get("composite") or ()))
    capabilities = texts(options.get("capability", CAPABILITIES))
    asked = Columns(
        texts(options.get("test")),
        texts(options.get("benchmark")),
        () if capabilities == ("none",) else capabilities,
    )
    columns = choose_columns(replace(assembled, table=table), asked)
    tests = columns.tests if asked.tests else (*columns.tests, *composites)
    request = ValidityRequest(
        tests=tests,
        benchmarks=columns.benchmarks,
        capabilities=columns.capabilities,
        pool=chosen("pool", options.get("pool", "same"), ("same", "each")),
        confidence=float(options.get("confidence", 0.95)),
        bootstrap=bootstrap_of(options),
    )
    result = analyse_validity(table, request)
    nested, skipped = _nested(table, tuple(options.get("nested") or ()))
    ablations = _ablations(table, tuple(options.get("ablation") or ()), request)
    unused = (f"Not used: {', '.join(columns.unused)}.",) if columns.unused else ()
    return ValidityFindings(table, result, nested, ablations, (*assembled.notes, *unused, *skipped))


def _nested(table: ScoreTable, specs: Sequence[str]) -> tuple[tuple[NestedComparison, ...], tuple[str, ...]]:
    """Return the requested comparisons, both ways; by default that of Section 4.4, if the data allow it."""
    if tuple(specs) == ("none",):
        return (), ()
    if specs:
        asked = [parse_nested(spec) for spec in specs]
        return tuple(analyse_nested(table, way) for one in asked for way in (one, one.reversed())), ()
    try:
        return tuple(analyse_nested(table, way) for way in (_DEFAULT_NESTED, _DEFAULT_NESTED.reversed())), ()
    except UnknownNameError:
        return (), ()
    except DataError as error:
        return (), (f"nested regression of Section 4.4 left out: {error.what}",)


def _ablations(table: ScoreTable, specs: Sequence[str], request: ValidityRequest) -> tuple[AblationResult, ...]:
    if specs:
        return tuple(analyse_ablation(table, parse_ablation(spec), request) for spec in specs)
    found = []
    for ablation in known_ablations(tuple(table.columns)):
        try:
            found.append(analyse_ablation(table, ablation, request))
        except DataError:  # not requested, and too few models have every level
            continue
    return tuple(found)


_SHORT = ("test", "benchmark", "n", "r", "q", "r|g", "q|g", "R", "away")


def _short(cell: Cell) -> tuple[Any, ...]:
    return (
        cell.test,
        cell.benchmark,
        cell.n,
        cell_text(cell.validity),
        chance(cell.validity_q),
        cell_text(cell.specificity),
        chance(cell.specificity_q),
        number(cell.coupling, sign=False),
        number(cell.distance, sign=False),
    )


def _reading(found: ValidityFindings) -> list[str]:
    """Return the notes needed to read the table correctly."""
    result = found.result
    cells = len(result.cells)
    notes = [
        f"{cells} cells are tested: read q (Benjamini-Hochberg over all cells), not the stars, which are p < .05, "
        f".01, .001 of single cells. R: coupling of the benchmark with capability; away: distance to the best "
        f"(v*, s*) that Theorem 1 allows."
    ]
    notes += [f"{cell.test} against {cell.benchmark}: {cell.reason}" for cell in result.cells if cell.reason]
    few = sorted({cell.benchmark for cell in result.cells if 0 < cell.n < _FEW})
    if few:
        notes.append(
            f"Fewer than {_FEW} models in {', '.join(few)}: the intervals are wide; one model can turn a sign."
        )
    for one in found.nested:
        base, added = " + ".join(one.base_names), " + ".join(one.added_names)
        notes.append(
            f"{one.target} ~ {base}: R2 {one.base.r2:.3f}; with {added}: R2 {one.full.r2:.3f} "
            f"(delta {one.delta_r2:+.3f}, F({one.df1},{one.df2}) = {one.f:.2f}, p = {one.p:.3f}, n = {one.n})"
        )
    for ablation in found.ablations:
        for level in ablation.levels:
            v, s = cell_text(level.cell.validity), cell_text(level.cell.specificity)
            notes.append(f"{ablation.factor} {level.level}, {level.cell.benchmark}: {v} / {s} (n = {level.cell.n})")
    return notes


def _data(found: ValidityFindings) -> dict[str, Any]:
    data: dict[str, Any] = plain_data(
        {
            "analysis": "validity",
            "schema": 1,
            "result": found.result,
            "nested": found.nested,
            "ablations": found.ablations,
            "notes": found.notes,
        }
    )
    return data


def write_findings(found: ValidityFindings, folder: Path, plots: bool = True) -> list[Path]:
    """Write CSV, JSON and (with `plots`) PNG and SVG files; returns their paths."""
    tables: list[tuple[str, Rows]] = [("validity", validity_rows(found.result))]
    if found.nested:
        tables.append(("nested", nested_rows(found.nested)))
    if found.ablations:
        tables.append(("ablations", ablation_rows(found.ablations)))
    files = [rows.write(folder / f"{name}.csv") for name, rows in tables]
    files.append(write_json(folder / "validity.json", _data(found)))
    if plots:
        files += _plots(found, folder)
    return files


def _plots(found: ValidityFindings, folder: Path) -> list[Path]:
    from creval_validity.output.plot_ablation import plot_ablations
    from creval_validity.output.plot_frontier import plot_benchmarks, plot_constructs
    from creval_validity.output.plot_matrix import plot_matrices

    request = found.result.request
    matrices = [
        ("benchmarks", correlation_matrix(found.table, (*request.capabilities, *request.benchmarks))),
        ("tests", correlation_matrix(found.table, request.tests)),
    ]
    files = [
        *plot_matrices(matrices, folder / "correlations"),
        *plot_constructs(found.result, folder / "frontier_constructs"),
        *plot_benchmarks(found.result, folder / "frontier_benchmarks"),
    ]
    if "liveideabench" in request.benchmarks:
        files += plot_benchmarks(found.result, folder / "frontier_liveideabench", ("liveideabench",))
    if found.ablations:
        files += plot_ablations(found.ablations, folder / "ablations")
    return files

"""`creval analyse trend`: reads the options, fits the trends, writes the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec
from creval.plugin.report import plain_data, write_json
from creval_validity.analyses.analysis_options import INPUTS, chosen, inputs_of, texts
from creval_validity.analyses.trend import ConstructTrend, TrendRequest, TrendResult, analyse_trend
from creval_validity.output.result_rows import trend_point_rows, trend_rows
from creval_validity.output.text import chance, number
from creval_validity.tables.inputs import assemble, choose_benchmarks

__all__ = ["TrendAnalysis"]


class TrendAnalysis:
    """Kind `analysis`: construct scores against release dates."""

    example = "--csv dates.csv"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse trend`."""
        return (
            *INPUTS,
            FieldSpec("benchmark", "string", (), "Columns that are benchmarks; default: every known one.", True),
            FieldSpec(
                "gaps",
                "string",
                "available",
                "A model without some benchmark of a construct: available averages the others, exclude leaves it out.",
            ),
            FieldSpec("confidence", "number", 0.95, "Level of the slope's interval, between 0 and 1."),
            FieldSpec("output", "file", None, "Folder for CSV, JSON and plots."),
            FieldSpec("no_plots", "boolean", False, "Write no plots."),
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Fit the trends and write files if `output` names a folder. A CSV must have columns for model and date."""
        assembled = assemble(inputs_of(runs, options))
        request = TrendRequest(
            benchmarks=choose_benchmarks(assembled, texts(options.get("benchmark"))),
            gaps=chosen("gaps", options.get("gaps", "available"), ("available", "exclude")),
            confidence=float(options.get("confidence", 0.95)),
        )
        result = analyse_trend(assembled.table, request)
        files: list[Path] = []
        if options.get("output"):
            files = write_trends(result, Path(str(options["output"])), plots=not options.get("no_plots"))
        return AnalysisOutput(
            title="Construct scores over time",
            columns=("construct", "n", "z/year", "low", "high", "p", "from", "to"),
            rows=[_short(trend) for trend in result.trends],
            notes=[*assembled.notes, *_reading(result)],
            files=[str(path) for path in files],
            data=plain_data({"analysis": "trend", "schema": 1, "result": result, "notes": assembled.notes}),
        )


def _short(trend: ConstructTrend) -> tuple[Any, ...]:
    line = trend.line
    ends = (trend.points[0].released.isoformat(), trend.points[-1].released.isoformat())
    return (trend.construct, line.n, number(line.slope), number(line.low), number(line.high), chance(line.p), *ends)


def _reading(result: TrendResult) -> list[str]:
    notes = [f"{construct} left out: {why}" for construct, why in result.skipped]
    for trend in result.trends:
        if trend.undated:
            some = ", ".join(trend.undated[:5]) + (" ..." if len(trend.undated) > 5 else "")
            notes.append(f"{trend.construct}: {len(trend.undated)} models with a score and no date: {some}")
    return notes


def write_trends(result: TrendResult, folder: Path, plots: bool = True) -> list[Path]:
    """Write CSV, JSON and (with `plots`) PNG and SVG files; returns their paths."""
    files = [
        trend_rows(result).write(folder / "trend.csv"),
        trend_point_rows(result).write(folder / "trend_models.csv"),
        write_json(folder / "trend.json", {"analysis": "trend", "schema": 1, "result": result}),
    ]
    if plots:
        from creval_validity.output.plot_trend import plot_trends

        files += plot_trends(result, folder / "trend")
    return files

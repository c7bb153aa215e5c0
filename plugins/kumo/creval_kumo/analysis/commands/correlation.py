"""`creval analyse kumo-correlation`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from creval.plugin import AnalysisOutput, DataError, FieldSpec, UsageError, open_runs
from creval.plugin.report import write_csv, write_json
from creval_analyses.figures import COLOURS
from creval_kumo.analysis.benchmark_table import match_models, read_benchmarks
from creval_kumo.analysis.correlation import Correlation, correlate
from creval_kumo.analysis.domain_names import texts
from creval_kumo.analysis.output import FIGURES, FILES

__all__ = ["CorrelationAnalysis"]

_COLUMNS = ("benchmark", "task", "measure", "models", "r", "low", "high", "p")
_MEASURES = ("success_rate", "relative_action_count")
Scores = dict[tuple[str, str], dict[str, float]]
"""(task, measure) -> model -> value."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """One benchmark against one measure, with the points (ours, theirs) by model."""

    benchmark: str
    task: str
    measure: str
    found: Correlation
    points: Mapping[str, tuple[float, float]]


class CorrelationAnalysis:
    """Kind `analysis`: success rate and relative action count against other benchmarks over models (Fig. 4c-e)."""

    example = "runs/mine --csv benchmarks.csv"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse kumo-correlation`."""
        return (
            FieldSpec("csv", "path", None, "CSV of other benchmarks: column model, then one column per benchmark."),
            FieldSpec("alias", "string", (), "RUN'S MODEL=TABLE'S MODEL; may be repeated.", True),
            *FILES,
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Correlate the runs with the table. Raises UsageError without either."""
        if not runs or not options.get("csv"):
            fix = "creval analyse kumo-correlation RUN... --csv benchmarks.csv"
            raise UsageError("runs and a table are needed", where="--csv", fix=fix)
        ours = _scores(runs)
        table = read_benchmarks(Path(str(options["csv"])))
        models = sorted({model for values in ours.values() for model in values})
        matched = match_models(models, table.models, texts(options.get("alias")))
        pairs = [
            _pair(benchmark, key, values, {m: theirs[t] for m, t in matched.items() if t in theirs})
            for benchmark, theirs in table.scores.items()
            for key, values in ours.items()
        ]
        rows = [_row(pair) for pair in pairs]
        data = {"results": [_data(pair) for pair in pairs], "models": matched}
        files: list[Path] = []
        if options.get("output"):
            folder = Path(str(options["output"]))
            files = [
                write_csv(folder / "correlation.csv", _COLUMNS, rows),
                write_json(folder / "correlation.json", data),
            ]
            if not options.get("no_plots"):
                files += _plot(pairs, folder / "correlation")
        return AnalysisOutput(
            "Correlation with other benchmarks",
            _COLUMNS,
            rows,
            _notes(pairs, models, matched),
            [str(file) for file in files],
            data,
        )


def _scores(runs: Sequence[str]) -> Scores:
    """Return the two measures of every task that has them. Raises DataError if a model has two values of one."""
    found: Scores = defaultdict(dict)
    for run in open_runs(runs):
        model = run.model
        for task in run.results["tasks"]:
            for metric in task["metrics"]:
                if metric["name"] in _MEASURES and metric["condition"] is None and metric["value"] is not None:
                    values = found[str(task["task"]), str(metric["name"])]
                    if model in values:
                        fix = "Name one run per model and task."
                        raise DataError(
                            f"{model} has two values of {task['task']} {metric['name']}",
                            where=str(run.folder),
                            fix=fix,
                        )
                    values[model] = float(metric["value"])
    if not found:
        raise DataError(
            f"the runs have no {' or '.join(_MEASURES)}", where=str(runs[0]), fix="Name runs of KUMO tasks."
        )
    return dict(found)


def _pair(benchmark: str, key: tuple[str, str], ours: Mapping[str, float], theirs: Mapping[str, float]) -> _Pair:
    points = {model: (ours[model], theirs[model]) for model in sorted(ours.keys() & theirs.keys())}
    return _Pair(benchmark, *key, correlate(ours, theirs), points)


def _row(pair: _Pair) -> tuple[Any, ...]:
    one = pair.found
    return pair.benchmark, pair.task, pair.measure, one.n, one.r, one.low, one.high, one.p


def _data(pair: _Pair) -> dict[str, Any]:
    points = {model: list(point) for model, point in pair.points.items()}
    head = {"benchmark": pair.benchmark, "task": pair.task, "measure": pair.measure}
    return {**head, **asdict(pair.found), "points": points}


def _notes(pairs: Sequence[_Pair], models: Sequence[str], matched: Mapping[str, str]) -> list[str]:
    notes = [
        f"{pair.benchmark}, {pair.task} {pair.measure}: {pair.found.reason}" for pair in pairs if pair.found.reason
    ]
    alone = [model for model in models if model not in matched]
    if alone:
        notes.append(f"Not in the table: {', '.join(alone)}. Name pairs with --alias.")
    return notes


def _panel_title(found: Correlation) -> str:
    """Return the title of a panel: r with its interval, and the number of models."""
    between = "" if found.low is None else f" [{found.low:.2f}, {found.high:.2f}]"
    return f"r = {found.r:.2f}{between}, n = {found.n}"


def _plot(pairs: Sequence[_Pair], base: Path) -> list[Path]:
    shown = [pair for pair in pairs if pair.found.r is not None]
    if not shown:
        return []
    columns = min(4, len(shown))
    rows = -(-len(shown) // columns)
    with FIGURES.draw(rows, columns, 3.1 * columns, 2.9 * rows) as (drawn, axes):
        for axis, pair in zip(axes, shown, strict=False):
            xs, ys = [theirs for _, theirs in pair.points.values()], [ours for ours, _ in pair.points.values()]
            colour = COLOURS[_MEASURES.index(pair.measure)]
            axis.scatter(xs, ys, s=22, color=colour)
            for model, (ours, theirs) in pair.points.items():
                name = model.rpartition("/")[2]
                axis.annotate(name, (theirs, ours), xytext=(3, 3), textcoords="offset points", fontsize=6)
            axis.set_title(f"{pair.task}\n{_panel_title(pair.found)}", fontsize=9)
            axis.set_xlabel(pair.benchmark)
            axis.set_ylabel(pair.measure.replace("_", " "))
        for axis in axes[len(shown) :]:
            axis.set_axis_off()
        return FIGURES.save(drawn, base)

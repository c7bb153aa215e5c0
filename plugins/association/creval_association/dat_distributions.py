"""`creval analyse dat-distributions RUN...`: DAT scores of people, models and the greedy algorithm (Figure 11)."""

from __future__ import annotations

import csv
import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from creval.plugin import AnalysisOutput, DataError, FieldSpec, RunError, open_runs
from creval.plugin.report import write_csv, write_json
from creval_analyses.figures import COLOURS, Figures, add_legend

__all__ = ["DatDistributions"]

_COLUMNS = ("group", "n", "mean", "SD", "paper n", "paper mean", "paper SD")
_PEOPLE, _MODELS, _GREEDY = "people", "models", "baseline/ceiling"
_PRINTED: Mapping[str, tuple[int, float, float]] = {
    _PEOPLE: (141, 78.4, 6.4),
    _MODELS: (2078, 83.75, 5.13),
    _GREEDY: (120, 94.1, 0.9),
}
"""Number, mean and standard deviation of each distribution, as printed in Figure 11."""
_NOTE = (
    "The paper's people are Olson et al.'s Study 1A under GloVe, its models 54 at temperature 1.0; models and the "
    "greedy algorithm are averaged over three embeddings there, and under the runs' own embedding here."
)
_BASELINE = "baseline/"
_BINS = 40
_FIGURES = Figures("creval-association", "Install it: pip install 'creval-association[plots]', or add --no-plots.")


class DatDistributions:
    """Kind `analysis`: number, mean and SD of DAT scores by group, next to the printed ones, and their histograms.

    All runs of models are one group; each baseline is a separate group (`baseline/ceiling` is Appendix D's greedy
    algorithm). Lists with too few valid words have no score.
    """

    example = "runs/mine runs/greedy --output figures"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse dat-distributions`."""
        return (
            FieldSpec("task", "string", "dat", "Name of the task in the runs."),
            FieldSpec("temperature", "number", 1.0, "Samples at this temperature."),
            FieldSpec("people", "path", None, "People's scores: a CSV or TSV with the column dat."),
            FieldSpec("output", "file", None, "Folder for CSV, JSON and the figure."),
            FieldSpec("no_plots", "boolean", False, "Write no figure."),
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Collect the scores and describe each group. Raises RunError, DataError."""
        chosen: dict[str, Any] = {spec.name: spec.default for spec in self.options()}
        chosen.update({name: value for name, value in options.items() if value is not None})
        people = {_PEOPLE: _people(Path(str(chosen["people"])))} if chosen["people"] else {}
        groups = people | _scores(runs, str(chosen["task"]), float(chosen["temperature"]))
        rows = [_row(name, scores) for name, scores in groups.items()]
        data = {"rows": [dict(zip(_COLUMNS, row, strict=True)) for row in rows], "scores": groups}
        files: list[Path] = []
        if chosen["output"]:
            base = Path(str(chosen["output"])) / "dat-distributions"
            files = [write_csv(base.with_suffix(".csv"), _COLUMNS, rows), write_json(base.with_suffix(".json"), data)]
            if not chosen["no_plots"]:
                files += _plot(groups, base)
        return AnalysisOutput("DAT, Figure 11", _COLUMNS, rows, [_NOTE], [str(file) for file in files], data)


def _scores(runs: Sequence[str], task: str, temperature: float) -> dict[str, list[float]]:
    """Return the scores by group, models first. Raises RunError, and DataError if embeddings differ."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    embeddings: dict[str, str] = {}
    for run in open_runs(runs):
        group = run.model if run.model.startswith(_BASELINE) else _MODELS
        embeddings[str(run.folder)] = str(run.result(task)["instruments"].get("embedding"))
        plan = next(entry for entry in run.manifest["tasks"] if entry["task"] == task)
        names = {str(each["name"]) for each in plan["conditions"] if each["settings"].get("temperature") == temperature}
        own = [
            score.scores["dat"] for score in run.scores(task) if score.key.condition in names and "dat" in score.scores
        ]
        if not own:
            raise RunError(
                f"no list of {task!r} at temperature {temperature:g} has a score",
                where=str(run.folder),
                fix="Name another temperature with --temperature, or other runs.",
            )
        found[group] += own
    if len(set(embeddings.values())) > 1:
        used = "; ".join(f"{folder}: {name}" for folder, name in embeddings.items())
        raise DataError(
            f"the runs used different embeddings: {used}", fix="Score them the same way, or name runs of one."
        )
    return {name: found[name] for name in sorted(found, key=lambda name: (name != _MODELS, name))}


def _people(file: Path) -> list[float]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t" if file.suffix == ".tsv" else ","))
        given = [row["dat"] for row in rows]
        found = [float(text) for text in given if text not in ("", "NA")]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"the scores of people cannot be read: {error!r}", where=str(file), fix="Write a column dat of numbers."
        ) from error
    if not found or not all(map(math.isfinite, found)):
        raise DataError("there are no scores of people", where=str(file), fix="Write a column dat of numbers.")
    return found


def _row(name: str, scores: Sequence[float]) -> Sequence[Any]:
    spread = statistics.stdev(scores) if len(scores) > 1 else None
    return (name, len(scores), statistics.fmean(scores), spread, *_PRINTED.get(name, (None, None, None)))


def _plot(groups: Mapping[str, Sequence[float]], base: Path) -> list[Path]:
    """Draw the densities, with a dashed line at each mean and a dotted line at the paper's mean."""
    every = [score for scores in groups.values() for score in scores]
    edges = list(np.linspace(min(every) - 1, max(every) + 1, _BINS + 1))
    with _FIGURES.draw(1, 1, 6.0, 4.0) as (drawn, (axes,)):
        for place, (name, scores) in enumerate(groups.items()):
            colour = COLOURS[place % len(COLOURS)]
            label = f"{name} (n = {len(scores)})"
            axes.hist(scores, bins=edges, density=True, alpha=0.5, label=label, color=colour)
            axes.axvline(statistics.fmean(scores), linestyle="--", color=colour)
            if name in _PRINTED:
                axes.axvline(_PRINTED[name][1], linestyle=":", color=colour, label=f"{name}, the paper's mean")
        axes.set_xlabel("DAT score")
        axes.set_ylabel("density")
        add_legend(drawn, [axes])
        return _FIGURES.save(drawn, base)

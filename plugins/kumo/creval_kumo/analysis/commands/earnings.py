"""`creval analyse kumo-earnings`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec, Run, UnknownNameError, open_runs
from creval.plugin.report import write_csv, write_json
from creval_kumo.analysis.plays import plays_of
from creval_kumo.play.earnings import COUNTS, earnings

__all__ = ["EarningsAnalysis"]

_COLUMNS = ("player", "run", "games", "success rate", "actions", "earnings", "seconds a choice")


class EarningsAnalysis:
    """Kind `analysis`: the earnings of each player by the formula of the paper's study; a run is one task set."""

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse kumo-earnings`."""
        return (
            FieldSpec("count", "string", COUNTS[0], f"How actions are counted: {' or '.join(COUNTS)}."),
            FieldSpec("output", "file", None, "Folder for CSV and JSON."),
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Compute the earnings of each run."""
        count = str(options.get("count") or COUNTS[0])
        if count not in COUNTS:
            raise UnknownNameError("count of actions", count, COUNTS, where="--count")
        rows = [_row(run, count) for run in open_runs(runs)]
        data = {"count": count, "results": [dict(zip(_COLUMNS, row, strict=True)) for row in rows]}
        files: list[Path] = []
        if options.get("output"):
            folder = Path(str(options["output"]))
            files = [write_csv(folder / "earnings.csv", _COLUMNS, rows), write_json(folder / "earnings.json", data)]
        notes = [
            f"25 + success rate x 15 - actions x 0.1, actions summed over the run ({count}). Seconds a choice: the "
            "median; the study excluded those who answered at random in a very short time."
        ]
        return AnalysisOutput("Earnings", _COLUMNS, rows, notes, [str(file) for file in files], data)


def _row(run: Run, count: str) -> tuple[Any, ...]:
    plays = list(plays_of(run))
    found = earnings(run.scores(), count)
    seconds = [second for play in plays for second in play.seconds]
    middle = median(seconds) if seconds else None
    return plays[0].model, run.folder.name, found.games, found.success_rate, found.actions, found.total, middle

"""Analysis `chain-lengths`: mean and longest chain of each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec, open_runs

__all__ = ["ChainLengths"]


class ChainLengths:
    """One row per run, over the tasks of this plugin."""

    def options(self) -> Sequence[FieldSpec]:
        """It has none of its own."""
        return ()

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Read the runs and count."""
        rows = []
        for run in open_runs(runs):
            lengths = [len(sample.outcome["chain"]) for sample in run.samples(status="scored")]
            rows.append((run.model, len(lengths), sum(lengths) / max(1, len(lengths)), max(lengths, default=0)))
        return AnalysisOutput("Chains of words", ("model", "chains", "mean", "longest"), rows)

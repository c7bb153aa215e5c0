"""`creval analyse neocoder-table` and `creval analyse neocoder-human`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec, Run, open_runs
from creval.plugin.data import DataOptions
from creval.plugin.report import write_csv
from creval_neocoder.analysis.human import HumanNumbers, human_numbers
from creval_neocoder.analysis.plots import draw_common, draw_human_difference, draw_neogauge, draw_stacked
from creval_neocoder.analysis.states import (
    COLUMNS,
    PAPER,
    StateRow,
    cumulative,
    one_suite,
    states_of,
    techniques_by_state,
)
from creval_neocoder.problem import STATES
from creval_neocoder.published.published_problems import read_problems
from creval_neocoder.task.source import published_files

__all__ = ["HumanAnalysis", "TableAnalysis"]

_OUTPUT = FieldSpec("output", "string", None, "Folder for the table as CSV, and the figures.")
_NO_PLOTS = FieldSpec("no_plots", "boolean", False, "Write no figures.")
_SUITE = FieldSpec("suite", "string", None, "Only the states of this suite, e.g. neocoder_released.")
_MISMATCH = (
    "The human techniques, and the paper's numbers, come from GPT-4's lists of 2024. An augmenter that names more "
    "techniques raises divergent creativity and NeoGauge: compare with the paper only where `creval neocoder detector` "
    "finds yours alike."
)


class TableAnalysis:
    """Kind `analysis`: Table 3 and Figures 4 and 7 over runs, next to the paper's GPT-4."""

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse neocoder-table`."""
        return (_SUITE, _OUTPUT, _NO_PLOTS)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Tabulate the runs, in percent."""
        opened = open_runs(runs)
        suite = one_suite(opened, options.get("suite"))
        series = {run.model: states_of(run, suite) for run in opened}
        tables = [*series.values(), list(PAPER)]
        columns = (
            "model",
            "t",
            "n",
            "pass@1",
            "constraint_following",
            "convergent",
            "divergent",
            "NeoGauge",
            "cumulative",
        )
        rows = [line for table in tables for line in _lines(table)]
        files: list[Path] = []
        if options.get("output"):
            folder = Path(str(options["output"]))
            files = [write_csv(folder / "table.csv", columns, rows)]
            if not options.get("no_plots"):
                shown = {**series, PAPER[0].model: PAPER}
                files += draw_neogauge(shown, folder / "neogauge") + draw_stacked(shown, folder / "stacked")
        notes = [
            "In percent. Cumulative NeoGauge is the running sum over the states, our reading of Figure 4.",
            "The paper's pass@1 and constraint_following are over one problem more (199, 199, 198, 194, 176, 97).",
            _MISMATCH,
        ]
        return AnalysisOutput("NeoCoder by state", columns, rows, notes, [str(file) for file in files])


class HumanAnalysis:
    """Kind `analysis`: human convergent and divergent creativity (Eqs. 5, 6), and Figures 2 and 5 over runs."""

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse neocoder-human`."""
        return (_SUITE, _OUTPUT, _NO_PLOTS, FieldSpec("offline", "boolean", False, "Do not use the network."))

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Compute the human numbers, in percent, and draw the runs next to them."""
        opened = open_runs(runs) if runs else []
        suite = one_suite(opened, options.get("suite")) if opened else None
        data = DataOptions.from_environment(offline=bool(options.get("offline")))
        human = human_numbers(read_problems(published_files(data)))
        rows: list[tuple[str, Any]] = [(f"convergent, state {t} (Eq. 5)", 100 * human.convergent[t]) for t in STATES]
        rows += [
            ("divergent, lists as shipped (Eq. 6)", 100 * human.divergent),
            ("divergent, within the vocabulary (Eq. 6)", 100 * human.divergent_in_vocabulary),
        ]
        rows += [(f"NeoGauge next to the others, state {t}", 100 * human.neogauge[t]) for t in STATES]
        rows += [(f"NeoGauge of the best next to the others, state {t}", 100 * human.best_neogauge[t]) for t in STATES]
        rows += [
            (f"share of {name!r} among all mentions", 100 * count / human.mentions.total())
            for name, count in human.mentions.most_common(5)
        ]
        files: list[Path] = []
        if options.get("output"):
            shown = [] if options.get("no_plots") else opened
            files = _written(Path(str(options["output"])), rows, shown, human, suite)
        notes = [
            f"In percent, over {human.problems} problems with 30 solutions each; a problem counts {human.union:.2f} "
            "techniques over all its solutions. 18 mentions in the lists lie outside the vocabulary of 34."
        ]
        columns = ("human solutions", "value")
        return AnalysisOutput("Human creativity", columns, rows, notes, [str(file) for file in files])


def _lines(table: Sequence[StateRow]) -> list[tuple[Any, ...]]:
    sums = cumulative(table)
    return [
        (row.model, row.state, row.n, *(_percent(row.values.get(name)) for name in COLUMNS), _percent(total))
        for row, total in zip(table, sums, strict=True)
    ]


def _written(
    folder: Path, rows: Sequence[Any], runs: Sequence[Run], human: HumanNumbers, suite: str | None
) -> list[Path]:
    files = [write_csv(folder / "human.csv", ("human solutions", "value"), rows)]
    if not runs:
        return files
    series = {run.model: states_of(run, suite) for run in runs}
    files += draw_human_difference(series, human, folder / "human-difference")
    for number, run in enumerate(runs, 1):
        found: dict[int, Counter[str]] = techniques_by_state(run, suite)
        files += draw_common(found, human.mentions, folder / f"common-techniques-{number}")
    return files


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value

"""`creval analyse neocoder-strategies`: runs with a reasoning strategy next to the plain run of the same model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec, Run, Status, UsageError, open_runs
from creval.plugin.report import write_csv
from creval_compare.paired import Difference, paired_means
from creval_neocoder.analysis.plots import draw_differences
from creval_neocoder.analysis.table5 import MODELS, TABLE_5

__all__ = ["METRICS", "Pair", "StrategiesAnalysis", "pairs_of", "values_of"]

METRICS = ("convergent", "divergent", "neogauge")
"""The metrics of Table 5, in its order."""

_STATE = re.compile(r"(?:(mcts|self_correction|planning|sampling)\w*_)?state(\d+)$")
_COLUMNS = (
    *("model", "strategy", "t", "metric", "n", "old", "new", "difference", "from", "to"),
    *("paper: old", "new", "difference"),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """One metric of one strategy in one state: its difference over the docs of both runs, shares from 0 to 1."""

    strategy: str
    state: int
    metric: str
    difference: Difference


class StrategiesAnalysis:
    """Kind `analysis`: Table 5 and Figure 6 over runs; the first run is the plain one, of the same model."""

    example = "runs/plain runs/sampling"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse neocoder-strategies`."""
        return (
            FieldSpec("output", "string", None, "Folder for the table as CSV, and the figure."),
            FieldSpec("no_plots", "boolean", False, "Write no figure."),
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Pair each strategy with the plain run, in percent."""
        if len(runs) < 2:
            raise UsageError(
                "a plain run and one with a strategy are compared",
                where="RUNS",
                fix="creval analyse neocoder-strategies PLAIN RUN...",
            )
        plain, *others = open_runs(runs)
        found = [pair for other in others for pair in pairs_of(plain, other)]
        rows = [_line(plain.model, pair) for pair in found]
        files: list[Path] = []
        if options.get("output"):
            folder = Path(str(options["output"]))
            files = [write_csv(folder / "strategies.csv", _COLUMNS, rows)]
            if not options.get("no_plots"):
                files += draw_differences(_by_strategy(found), _printed(), folder / "strategies")
        notes = [
            "In percent; differences in percentage points, with 95 % intervals over the problems that both runs have.",
            "Paper: Table 5, " + ", ".join(f"{name} on {model}" for name, model in MODELS.items()) + ".",
            *_mismatches(plain, others),
        ]
        return AnalysisOutput("NeoCoder: strategies", _COLUMNS, rows, notes, [str(file) for file in files])


def pairs_of(plain: Run, other: Run) -> Iterator[Pair]:
    """Yield the paired differences of a run with strategies, by task and metric.

    Raises UsageError if the models differ, a run is of the wrong kind, or they have no problem in common.
    """
    if plain.model != other.model:
        raise UsageError(
            f"the plain run is of {plain.model}, this one of {other.model}",
            where=str(other.folder),
            fix="A strategy is measured against the same model without it.",
        )
    tasks = _tasks(plain, plainly=True)
    for (strategy, state), task in sorted(_tasks(other, plainly=False).items()):
        if ("", state) not in tasks:
            raise UsageError(
                f"the plain run lacks state {state}",
                where=str(plain.folder),
                fix=f"Run it: creval --tasks neocoder_state{state} ...",
            )
        for metric in METRICS:
            before, after = values_of(plain, tasks["", state], metric), values_of(other, task, metric)
            difference = paired_means(before, after, binary=metric == "convergent", scale=(0.0, 1.0))
            if not difference.docs:
                raise UsageError(
                    f"no problem has {metric} both in {plain.folder} and here",
                    where=f"{other.folder}, {task}",
                    fix="Run both over the same problems, with an augmenter whose lists can be read.",
                )
            yield Pair(strategy, state, metric, difference)


def values_of(run: Run, task: str, metric: str) -> dict[str, float]:
    """Return a score by doc, the mean over its repeats. An unparsed answer scores 0; errors are left out."""
    found: dict[str, list[float]] = {}
    for score in run.scores(task):
        status = score.status_of(metric)
        if status.is_failure:
            found.setdefault(score.key.doc, []).append(0.0)
        elif status is Status.SCORED and metric in score.scores:
            found.setdefault(score.key.doc, []).append(score.scores[metric])
    return {doc: sum(values) / len(values) for doc, values in found.items()}


def _tasks(run: Run, plainly: bool) -> dict[tuple[str, int], str]:
    """Return the tasks of a run by strategy (empty: none) and state."""
    found: dict[tuple[str, int], str] = {}
    for task in run.tasks:
        match = _STATE.search(task)
        if match is None or "neocoder" not in task:
            continue
        strategy, state = match[1] or "", int(match[2])
        if plainly == bool(strategy):
            kind = "a strategy" if strategy else "no strategy"
            raise UsageError(
                f"its task {task} has {kind}",
                where=str(run.folder),
                fix="Name the plain run first, then the runs with a strategy.",
            )
        if (strategy, state) in found:
            raise UsageError(
                f"{found[strategy, state]} and {task} would both be state {state}, which are different measurements",
                where=str(run.folder),
                fix="Analyse runs of one suite.",
            )
        found[strategy, state] = task
    if not found:
        raise UsageError("the run has no task of NeoCoder", where=str(run.folder), fix="creval --tasks neocoder ...")
    return found


def _mismatches(plain: Run, others: Sequence[Run]) -> list[str]:
    """Return what makes the numbers of two runs incomparable: another augmenter or sandbox."""
    of_plain = _resources(plain)
    return [
        f"{other.folder} was scored with {', '.join(sorted(now - of_plain))}, the plain run with "
        f"{', '.join(sorted(of_plain - now))}: part of the difference may be theirs."
        for other in others
        if (now := _resources(other)) != of_plain
    ]


def _resources(run: Run) -> set[str]:
    found = set()
    for task in run.tasks:
        result = run.result(task)
        found |= {f"{name} {value}" for name, value in result["instruments"].items()}
    return found


def _by_strategy(pairs: Sequence[Pair]) -> Mapping[str, Sequence[Pair]]:
    found: dict[str, list[Pair]] = {}
    for pair in pairs:
        found.setdefault(pair.strategy, []).append(pair)
    return found


def _printed() -> dict[tuple[str, str, int], float]:
    """Return the differences that the paper's Table 5 prints, by strategy, metric and state."""
    return {
        (strategy, metric, state): pair.difference
        for strategy, metrics in TABLE_5.items()
        for metric, pairs in metrics.items()
        for state, pair in enumerate(pairs)
    }


def _line(model: str, pair: Pair) -> tuple[Any, ...]:
    found = pair.difference
    numbers = (found.one, found.other, found.value, found.low, found.high)
    ours = [None if value is None else 100 * value for value in numbers]
    printed = TABLE_5[pair.strategy][pair.metric]
    theirs = printed[pair.state] if pair.state < len(printed) else None
    return (
        *(model, pair.strategy, pair.state, pair.metric, found.docs, *ours),
        *((None, None, None) if theirs is None else (theirs.old, theirs.new, round(theirs.difference, 2))),
    )

"""`creval.compare`: runs next to each other, from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.plugin import Run, UsageError, counted, open_runs
from creval.plugin.comparing import RunResult, data_frame, html_table, shorten_list, without_empty
from creval_compare.comparison_tables import (
    PAIR_COLUMNS,
    RANK_COLUMNS,
    marked,
    names_of,
    pair_rows,
    rank_rows,
    readable,
)
from creval_compare.metric_comparison import Comparison, ComparisonRequest, as_data, compare_runs
from creval_compare.model_table import GROUPS_NOTE

if TYPE_CHECKING:
    import pandas

__all__ = ["Compared", "compare"]


@dataclass(frozen=True, slots=True)
class Compared:
    """Compared runs: a `Comparison` for each metric that they share, and `notes`.

    A comparison has the `ranking` of the runs and the `contrasts` of each two (by their indices in `runs`), with the
    difference, its interval, the p-value, the minimum detectable difference, and the verdict.
    """

    runs: Sequence[Run]
    comparisons: Sequence[Comparison]
    notes: Sequence[str]

    @property
    def names(self) -> list[str]:
        """The names of the runs in tables: their models, with the folder if a model is not unique."""
        return names_of(self.runs)

    def verdicts(self) -> dict[str, str]:
        """Return the verdict on the second of two runs: better, worse, equivalent, cannot tell (higher, lower).

        The keys are metrics, preceded by the task if there are several, and followed by the condition in brackets.
        Raises UsageError if there are more than two runs: each two then have a verdict, in `contrasts`.
        """
        if len(self.runs) != 2:
            fix = "Look into comparisons: each has the contrasts of all pairs."
            raise UsageError(f"{len(self.runs)} runs have no single verdict", where="verdicts", fix=fix)
        several = len({each.task for each in self.comparisons}) > 1
        return {_named(each, several): each.contrasts[0].verdict for each in self.comparisons}

    def to_rows(self) -> list[dict[str, Any]]:
        """Return the table of `creval compare`: of two runs one row per metric, of more one row per metric and run."""
        columns, rows = self.table()
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def to_pandas(self) -> pandas.DataFrame:
        """Return `to_rows` as a data frame. Raises MissingPartError without pandas."""
        return data_frame(self.to_rows())

    def to_data(self) -> dict[str, Any]:
        """Return everything, for every pair of runs, as plain data, as `creval compare --json` prints it."""
        return as_data(self.comparisons, self.runs, self.notes)

    def shortened(self) -> tuple[Compared, list[str]]:
        """Return the comparison without values under single conditions, and a line that says what is not shown."""
        whole = {(each.task, each.metric) for each in self.comparisons if each.condition is None}
        kept = [one for one in self.comparisons if one.condition is None or (one.task, one.metric) not in whole]
        tasks, shown = {one.task for one in kept}, {(one.task, one.metric) for one in kept}
        known = {
            (str(task["task"]), str(metric["name"]))
            for task in (*self.runs[0].results["tasks"], *self.runs[0].results.get("suites", ()))
            for metric in task["metrics"]
            if task["task"] in tasks
        }
        hidden = [counted(len(known - shown), "more metrics")] if known - shown else []
        hidden += ["the values under each condition"] if len(kept) < len(self.comparisons) else []
        lines = [f"{' and '.join(hidden)}: add --all to creval compare"] if hidden else []
        return replace(self, comparisons=kept), lines

    def __repr__(self) -> str:
        said = counted(len(self.comparisons), "metrics")
        if len(self.runs) == 2:
            said = shorten_list([f"{name}: {verdict}" for name, verdict in self.verdicts().items()])
        return f"Compared({shorten_list(self.names)}; {said})"

    def _repr_html_(self) -> str:
        shown, cells = self.readable_table()
        title = f"{len(self.runs)} runs, best first" if len(self.runs) > 2 else self.order
        return html_table(title, shown, cells, [self.legend, *self.notes])

    @property
    def order(self) -> str:
        """The line that says which of two runs is first and second in the table's columns."""
        return f"first: {self.names[0]}; second: {self.names[1]}"

    @property
    def legend(self) -> str:
        """The line that explains the marks of the table."""
        if len(self.runs) > 2:
            return f"* primary metric; {GROUPS_NOTE}"
        return (
            "* primary metric; difference: second minus first; detectable: minimum detectable difference (80 % power)"
        )

    def readable_table(self) -> tuple[Sequence[str], list[list[Any]]]:
        """Return the table as people read it: with stars at primary metrics, and an interval in one cell."""
        columns, rows = self.table()
        stars = marked(rows, self.comparisons)
        return without_empty(columns, stars, ["condition"]) if len(self.runs) > 2 else readable(stars)

    def table(self) -> tuple[Sequence[str], list[list[Any]]]:
        if len(self.runs) == 2:
            return PAIR_COLUMNS, pair_rows(self.comparisons)
        return RANK_COLUMNS, rank_rows(self.comparisons, self.names)


def compare(
    runs: Sequence[str | Path | Run | RunResult],
    *,
    tasks: Sequence[str] = (),
    metrics: Sequence[str] = (),
    primary: bool = False,
    margin: float | Mapping[str, float] | None = None,
    force: bool = False,
) -> Compared:
    """Compare two runs doc by doc (is the second one better?), or rank several.

    `runs` are folders, opened runs or results. `tasks` and `metrics` by name (none: all that the runs share); `primary`
    leaves the primary metrics (of a task without any, all). Their p-values, or those of the `metrics`, are adjusted
    together by Holm. `margin` is the largest difference that does not matter, in the metric's unit: for all metrics, or
    by metric. `force` compares runs even if task, data or resources differ. docs/compare.md explains tests and
    intervals.

    Raises UsageError for fewer than two runs and for a margin that is no positive number, UnknownNameError for a task
    or metric that is none, and RunError if runs did not come to their end or do not compare.
    """
    margins = dict(margin) if isinstance(margin, Mapping) else {} if margin is None else {"": margin}
    for name, value in margins.items():
        if not 0 < value < float("inf"):
            where = f"margin of {name}" if name else "margin"
            raise UsageError(f"{value!r} is not a valid margin", where=where, fix="Give more than 0.")
    folders = [one.folder if isinstance(one, Run | RunResult) else one for one in runs]
    opened = [run.as_stored() for run in open_runs(folders)]  # numbers alone are read
    found, notes = compare_runs(opened, ComparisonRequest(_listed(tasks), _listed(metrics), primary, margins, force))
    return Compared(opened, found, notes)


def _listed(names: Sequence[str]) -> Sequence[str]:
    """One name alone is a name, not its letters."""
    return (names,) if isinstance(names, str) else names


def _named(each: Comparison, several: bool) -> str:
    name = f"{each.task}.{each.metric}" if several else each.metric
    return f"{name} [{each.condition}]" if each.condition else name

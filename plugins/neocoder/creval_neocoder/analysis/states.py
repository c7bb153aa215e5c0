"""Numbers by state, from runs and from the paper's Table 3."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from creval.plugin import Run, UsageError

__all__ = ["COLUMNS", "PAPER", "StateRow", "cumulative", "one_suite", "states_of", "techniques_by_state"]

COLUMNS = ("pass@1", "constraint_following", "convergent", "divergent", "neogauge")
"""The metrics of Table 3, in its order."""

_STATE = re.compile(r"state(\d)$")


@dataclass(frozen=True, slots=True)
class StateRow:
    """The numbers of one model in one state: shares from 0 to 1 by metric, None if missing."""

    model: str
    state: int
    n: int
    values: Mapping[str, float | None]


def _paper(state: int, n: int, *percent: float) -> StateRow:
    values = {name: value / 100 for name, value in zip(COLUMNS, percent, strict=True)}
    return StateRow("GPT-4 (Table 3)", state, n, values)


PAPER: Sequence[StateRow] = (
    _paper(0, 198, 16.1, 100.0, 16.2, 4.5, 1.0),
    _paper(1, 198, 11.6, 75.4, 8.1, 11.9, 1.4),
    _paper(2, 197, 7.1, 46.0, 3.6, 11.5, 0.9),
    _paper(3, 193, 5.2, 33.0, 1.6, 12.4, 0.5),
    _paper(4, 175, 2.3, 26.1, 0.0, 13.2, 0.0),
    _paper(5, 97, 2.1, 14.4, 0.0, 15.3, 0.0),
)
"""GPT-4 as printed in the paper. Its first two columns are over one more problem (199, 199, 198, 194, 176, 97)."""


def one_suite(runs: Sequence[Run], suite: str | None = None) -> str:
    """Return the suite whose states are in the runs, of tasks named SUITE_state0 to SUITE_state5.

    Raises UsageError if a run has no state, or none of `suite`; and without `suite` if the runs have several,
    since their numbers are of different measurements.
    """
    held = {run.folder: _suites(run) for run in runs}
    for folder, suites in held.items():
        if not suites:
            raise UsageError("the run has no task of NeoCoder", where=str(folder), fix="creval --tasks neocoder ...")
        if suite is not None and suite not in suites:
            raise UsageError(f"the run has no states of {suite}", where=str(folder), fix=f"It has: {', '.join(suites)}")
    names = list(dict.fromkeys(name for suites in held.values() for name in suites))
    if suite is None and len(names) > 1:
        raise UsageError(
            f"there are states of {' and of '.join(names)}, which are different measurements",
            where=", ".join(map(str, held)),
            fix=f"Choose one: --suite {names[0]}",
        )
    return suite or names[0]


def states_of(run: Run, suite: str | None = None) -> list[StateRow]:
    """Return a run's numbers by state. Raises UsageError if it has no task of NeoCoder, or those of two suites."""
    tasks = _tasks(run, one_suite([run], suite))
    return [_row(run, tasks[state], state) for state in sorted(tasks)]


def _suites(run: Run) -> list[str]:
    """Return the suites whose states are in a run, in the order of its tasks."""
    named = [_STATE.sub("", task).rstrip("_") for task in run.tasks if _STATE.search(task) and "neocoder" in task]
    return list(dict.fromkeys(named))


def _tasks(run: Run, suite: str) -> dict[int, str]:
    """Return the tasks of a suite's states in a run."""
    found = {}
    for task in run.tasks:
        match = _STATE.search(task)
        if match is not None and "neocoder" in task and _STATE.sub("", task).rstrip("_") == suite:
            found[int(match[1])] = task
    return found


def _row(run: Run, task: str, state: int) -> StateRow:
    metrics = [metric for metric in run.result(task)["metrics"] if metric["condition"] is None]
    by_name = {str(metric["name"]).partition("[")[0]: metric for metric in metrics}
    values = {name: by_name[name]["value"] for name in COLUMNS if name in by_name}
    return StateRow(run.model, state, max((int(metric["n"]) for metric in metrics), default=0), values)


def cumulative(rows: Sequence[StateRow]) -> list[float | None]:
    """Return the running sum of NeoGauge over the states (our reading of Figure 4, right); None after a gap."""
    sums: list[float | None] = []
    total: float | None = 0.0
    for row in rows:
        value = row.values.get("neogauge")
        total = None if total is None or value is None else total + value
        sums.append(total)
    return sums


def techniques_by_state(run: Run, suite: str | None = None) -> dict[int, Counter[str]]:
    """Return how often each technique was found in a run's programs, by state (each once per program)."""
    found: dict[int, Counter[str]] = {}
    for state, task in _tasks(run, one_suite([run], suite)).items():
        counts = found.setdefault(state, Counter())
        for score in run.scores(task):
            counts.update(set(_listed(score.details)))
    return found


def _listed(details: object) -> Sequence[str]:
    """Return the augmenter's techniques in the details of a score, wherever the scorer's part is nested."""
    if isinstance(details, Mapping):
        names = details.get("techniques")
        if isinstance(names, list):
            return [str(name) for name in names]
        for part in details.values():
            if inner := _listed(part):
                return inner
    return ()

"""Judge on demand the paths that scoring left out: by the run's own judge, with each answer stored in the run.

A run is judged only by its own rule of validity, which keeps it cheap. Utility under the other rules, and without the
factuality filter, needs verdicts on more paths; this module requests them, for the same answers of the target, and
later requests (another analysis, `creval score`) are served from the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from creval.plugin import FieldSpec, Run, SampleKey, open_runs
from creval_analyses.options import open_workbench, part_options
from creval_analyses.workbench import Workbench
from creval_create.analysis.numbers import grouped
from creval_create.analysis.sets import JudgedSet, read_sets
from creval_create.judging.judge import ROLE, PathJudge, StrengthOf, Verdict
from creval_create.paths.strings import path_string
from creval_create.paths.validity import RULES
from creval_create.utility.distance import raw_distances

__all__ = ["JUDGE", "Further", "read_judged"]

JUDGE = (
    FieldSpec("judge_missing", "boolean", False, "Ask the run's judge for missing verdicts, and store them."),
    *part_options(models=True),
)
"""Options of an analysis that requests verdicts."""


class Further(NamedTuple):
    """Sets, and how many calls to the judge their missing verdicts took."""

    sets: list[JudgedSet]
    calls: int

    @property
    def notes(self) -> list[str]:
        """Return the notes for a reader of the analysis."""
        return [f"{self.calls} calls to judges for missing verdicts, stored in the runs."] if self.calls else []


def read_judged(runs: Sequence[str], strength_of: StrengthOf, options: Mapping[str, Any]) -> Further:
    """Read the sets of some runs; with `judge_missing` judge every distinct path that is valid by any rule.

    `options` are those of `JUDGE`; their budget applies to each task of a run. Raises
    the errors of `read_sets`, ScoringError if a verdict stays unreadable, ModelError, BudgetError, and RunError if
    another process works in a run; paid calls are stored even then.
    """
    sets = read_sets(runs)
    if not options.get("judge_missing"):
        return Further(sets, 0)
    opened = {(run.model, task): run for run in open_runs(runs) for task in run.tasks}
    found: list[JudgedSet] = []
    calls = 0
    for (model, task), own in grouped(((one.model, one.task), one) for one in sets).items():
        if any(_missing(one, strength_of) for one in own):
            judged, asked = _judged(opened[model, task], task, own, strength_of, options)
            found += judged
            calls += asked
        else:
            found += own
    return Further(found, calls)


def _missing(one: JudgedSet, strength_of: StrengthOf) -> list[int]:
    """Return the indices of the paths of a set that are valid by some rule and lack a verdict."""
    places = sorted({place for rule in RULES for place in one.valid(rule)})
    return [place for place in places if _lacks(one.paths[place], strength_of)]


def _lacks(path: Mapping[str, Any], strength_of: StrengthOf) -> bool:
    if "factual" not in path:
        return True
    return "class_sizes" not in path and (strength_of == "valid" or all(path["factual"]))


def _judged(
    run: Run, task: str, sets: Sequence[JudgedSet], strength_of: StrengthOf, options: Mapping[str, Any]
) -> tuple[list[JudgedSet], int]:
    result = run.result(task)
    bench = open_workbench({**options, "role": {ROLE: result["asked_instruments"][ROLE]}}, addressed=ROLE)
    bench.keep_calls(run)
    context = bench.context(result["qualified"])

    async def one(of: JudgedSet) -> JudgedSet:
        places = _missing(of, strength_of)
        judge = PathJudge(context, SampleKey(of.task, of.doc, of.condition, of.repeat), strength_of)
        verdicts = await judge.verdicts([of.path(place) for place in places])
        return _with(of, dict(zip(places, verdicts, strict=True)), bench, run)

    async def every() -> list[JudgedSet]:
        given = await asyncio.gather(*map(one, sets), return_exceptions=True)
        for each in given:  # calls in flight finish first, so that no paid call is lost
            if isinstance(each, BaseException):
                raise each
        return [each for each in given if isinstance(each, JudgedSet)]

    judged = bench.work(every)
    return judged, int(bench.describe()[ROLE]["usage"]["calls"])


def _with(one: JudgedSet, verdicts: Mapping[int, Verdict], bench: Workbench, run: Run) -> JudgedSet:
    """Return a set with further verdicts, and the distances of all paths whose strength is now known."""
    if not verdicts:
        return one
    paths = [dict(path) for path in one.paths]
    for place, verdict in verdicts.items():
        paths[place]["factual"] = list(verdict.factual)
        if verdict.class_sizes is not None:
            paths[place]["class_sizes"] = list(verdict.class_sizes)
    strong = [place for place, path in enumerate(paths) if "class_sizes" in path]
    strings = [path_string(one.path(place), one.own_rules.path_string) for place in strong]
    raw = raw_distances(strings, bench.resource_of(run, one.task, "embedding"))
    distances = [raw[row, :row].tolist() for row in range(len(strong))]
    return replace(one, details={**one.details, "paths": paths, "embedded": strong, "distances": distances})

"""Compares two runs metric by metric, or ranks several, with the p-values adjusted by Holm."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

from creval.plugin import Registry, Run, UnknownNameError, UsageError
from creval.plugin.comparing import derive, load_plugins
from creval_compare.paired import Difference, Pairs, Verdict, compare_pairs
from creval_compare.pairing import PairedMetric, SharedTask, shared_task, shared_tasks
from creval_compare.significance import ALPHA, holm
from creval_compare.suite_comparison import SuiteNumber, suite_numbers
from creval_compare.trials import compare_trials

__all__ = [
    "Comparison",
    "ComparisonRequest",
    "Contrast",
    "Ranked",
    "as_data",
    "compare_runs",
    "letters",
    "pairs",
]


_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def letters(count: int, different: Collection[tuple[int, int]]) -> list[str]:
    """Return for each of `count` runs its groups: runs that share a letter cannot be told apart.

    `different` holds the pairs (i < j) that can. The letters are those of the compact display of Piepho (2004,
    J. Comput. Graph. Stat. 13, 456-466, "insert and absorb"): each group is as large as it can be, and each pair that
    is not told apart shares one. Groups are named in the order of their first run.
    """
    groups: list[frozenset[int]] = [frozenset(range(count))]
    for one, other in sorted(different):
        split = []
        for group in groups:
            if one in group and other in group:
                split += [group - {one}, group - {other}]
            else:
                split.append(group)
        groups = [group for group in dict.fromkeys(split) if not any(group < larger for larger in split)]
    ordered = sorted(groups, key=sorted)
    return ["".join(_letter(place) for place, group in enumerate(ordered) if run in group) for run in range(count)]


def _letter(place: int) -> str:
    """`a` to `z`, then `a1` ..."""
    return (
        _ALPHABET[place] if place < len(_ALPHABET) else f"{_ALPHABET[place % len(_ALPHABET)]}{place // len(_ALPHABET)}"
    )


def pairs(count: int) -> Sequence[tuple[int, int]]:
    """Return all pairs of numbers below `count`, the smaller first."""
    return list(combinations(range(count), 2))


_FAMILIES = {"tasks": "", "suites": " of suites"}
"""Metrics whose p-values are adjusted together, and how the notes say it."""


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """What is compared: `tasks` and `metrics` by name (none: all), and how.

    `margins`: by metric (under "" for all) the largest difference, in the metric's unit, that does not matter. `force`
    compares runs even if task, data or resources differ. `primary`: only the primary metrics; of a task without any,
    all.
    """

    tasks: Sequence[str] = ()
    metrics: Sequence[str] = ()
    primary: bool = False
    margins: Mapping[str, float] = field(default_factory=dict)
    force: bool = False

    def margin(self, metric: str) -> float | None:
        """Return the margin of a metric, also where its name carries a resource in brackets."""
        plain = metric.partition("[")[0]
        return next((self.margins[name] for name in (metric, plain, "") if name in self.margins), None)


@dataclass(frozen=True, slots=True)
class Contrast:
    """One pair of runs (their places) in one metric, second minus first; `p_value` is adjusted, see `Comparison`."""

    first: int
    second: int
    difference: Difference
    p_value: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Ranked:
    """One run's place in one metric, best first: its number over the shared docs, and its groups."""

    run: int
    value: float | None
    groups: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric of one task, or number of a suite, over all runs. `left_out` docs have a value in some runs only.

    `tests`: the p-values are adjusted by Holm for so many tests. Those of the primary metrics (of the metrics asked
    for by name, where some are) are adjusted together, those of suites apart; those of another metric for its own pairs
    of runs alone.
    """

    task: str
    metric: str
    condition: str | None
    primary: bool
    higher_is_better: bool | None
    unit: str
    docs: int
    left_out: int
    margin: float | None
    tests: int
    ranking: Sequence[Ranked]
    contrasts: Sequence[Contrast]


class _Tested(NamedTuple):
    """A metric with the difference of each pair of runs, before their p-values are adjusted."""

    task: str
    compared: PairedMetric | SuiteNumber
    docs: int
    values: Sequence[float | None]
    differences: Mapping[tuple[int, int], Difference]

    def family(self, asked: bool) -> str | None:
        """With what its p-values are adjusted: metrics asked for, else primary ones; those of suites apart."""
        if not (asked or self.compared.metric["primary"]):
            return None
        return "suites" if isinstance(self.compared, SuiteNumber) else "tasks"

    @property
    def p_values(self) -> list[float]:
        return [1.0 if each.p_value is None else each.p_value for each in self.differences.values()]


def compare_runs(runs: Sequence[Run], asking: ComparisonRequest) -> tuple[list[Comparison], list[str]]:
    """Compare two or more runs in all metrics that they share; return comparisons and notes.

    Raises UsageError for fewer than two runs, UnknownNameError for a task or metric that is none, and RunError if
    they do not compare (`shared_tasks`).
    """
    if len(runs) < 2:
        raise UsageError("a single run cannot be compared", where="RUN RUN...", fix="Name two runs or more.")
    found: list[_Tested] = []
    notes: list[str] = []
    known: dict[str, None] = {}

    def wanted(name: str, metric: Mapping[str, Any], primary: bool = asking.primary) -> bool:
        known[name] = None
        asked = not asking.metrics or bool({name, name.partition("[")[0]} & set(asking.metrics))
        return asked and (bool(metric["primary"]) or not primary)

    registry = load_plugins().registry
    tasks = {each.task: each for each in shared_tasks(runs, asking.tasks, asking.force, registry)}
    for number in suite_numbers(runs, asking.tasks, lambda name: _opened(tasks, name, runs, asking, registry)):
        if isinstance(number, str):
            notes.append(number)
        elif wanted(number.key.name, number.metric):
            found.append(_tested_suite(number, len(runs)))
    for task in tasks.values():
        notes += task.notes()
        if not asking.tasks or task.task in asking.tasks:
            primary = asking.primary and any(task.metric(key)["primary"] for key in task.metrics)
            keys = [key for key in task.metrics if wanted(key.name, task.metric(key), primary)]
            found += [_tested(task.task, task.compared(key)) for key in keys]
    plain = {name.partition("[")[0] for name in known}
    for name in (*asking.metrics, *filter(None, asking.margins)):
        if name not in known and name not in plain:
            raise UnknownNameError("metric", name, [*known])
    comparisons, note = _adjusted(found, asking)
    return comparisons, list(dict.fromkeys([*_apart(comparisons), *notes, *note]))


def _apart(comparisons: Sequence[Comparison]) -> list[str]:
    """Return a note on each task of which the runs have no value of the same doc."""
    paired = {each.task for each in comparisons if each.docs}
    apart = dict.fromkeys(each.task for each in comparisons if each.task not in paired)
    fix = "use the same --seed and --limit, and resume runs whose samples errored"
    return [f"{task}: the runs have no doc in common with a value in each: {fix}" for task in apart]


def _opened(
    tasks: dict[str, SharedTask], name: str, runs: Sequence[Run], asking: ComparisonRequest, registry: Registry
) -> SharedTask:
    """A task of a suite, which is read once."""
    if name not in tasks:
        tasks[name] = shared_task(runs, name, asking.force, registry)
    return tasks[name]


def _tested(task: str, compared: PairedMetric) -> _Tested:
    docs = len(compared.docs) if compared.paired else min(map(len, compared.sides))
    values = [compared.aggregation.value(side) if len(side) else None for side in compared.sides]
    differences = {pair: _difference(task, compared, *pair) for pair in pairs(len(compared.sides))}
    return _Tested(task, compared, docs, values, differences)


def _tested_suite(number: SuiteNumber, runs: int) -> _Tested:
    differences = {pair: number.difference(*pair) for pair in pairs(runs)}
    return _Tested(number.suite, number, number.docs, [number.value(run) for run in range(runs)], differences)


def _adjusted(found: Sequence[_Tested], asking: ComparisonRequest) -> tuple[list[Comparison], list[str]]:
    """Adjust the p-values by Holm: of the primary metrics (or those asked for) together, of others each for itself."""
    families = [each.family(bool(asking.metrics)) for each in found]
    own = {name: [each for each, family in zip(found, families, strict=True) if family == name] for name in _FAMILIES}
    together = {name: iter(holm([p for each in members for p in each.p_values])) for name, members in own.items()}
    tests = {name: sum(len(each.differences) for each in members) for name, members in own.items()}
    comparisons = []
    for each, family in zip(found, families, strict=True):
        count = len(each.differences)
        adjusted = holm(each.p_values) if family is None else [next(together[family]) for _ in range(count)]
        margin = asking.margin(each.compared.key.name)
        comparisons.append(_comparison(each, adjusted, count if family is None else tests[family], margin))
    which = "metrics asked for" if asking.metrics else "primary metrics"
    notes = [
        f"p and verdict of the {len(members)} {which}{_FAMILIES[name]} are adjusted by Holm for {tests[name]} tests; "
        "intervals are not"
        for name, members in own.items()
        if len(members) > 1
    ]
    if notes and None in families:
        notes[-1] += "; those of the other metrics are not adjusted for their number"
    return comparisons, notes


def _comparison(tested: _Tested, adjusted: Sequence[float], tests: int, margin: float | None) -> Comparison:
    compared, metric = tested.compared, tested.compared.metric
    higher = metric["higher_is_better"]
    contrasts = []
    for (pair, difference), adjusted_p in zip(tested.differences.items(), adjusted, strict=True):
        p_value = None if difference.p_value is None else adjusted_p
        verdict = difference._replace(p_value=p_value).verdict(higher, margin)
        contrasts.append(Contrast(*pair, difference, p_value, verdict))
    return Comparison(
        task=tested.task,
        metric=compared.key.name,
        condition=compared.key.condition,
        primary=metric["primary"],
        higher_is_better=higher,
        unit=metric["cluster"],
        docs=tested.docs,
        left_out=compared.left_out,
        margin=margin,
        tests=tests,
        ranking=_ranking(tested.values, contrasts, higher),
        contrasts=contrasts,
    )


def _difference(task: str, compared: PairedMetric, one: int, other: int) -> Difference:
    seed = derive(0, "compare", task, *compared.key, one, other)
    sides = compared.sides[one], compared.sides[other]
    method = compared.metric["definition"]["ci"]
    if not compared.paired:
        return compare_trials(compared.aggregation, sides, compared.scale, method, seed)
    return compare_pairs(compared.aggregation, Pairs(compared.docs, *sides), compared.scale, method, seed)


def _ranking(values: Sequence[float | None], contrasts: Sequence[Contrast], higher: bool | None) -> list[Ranked]:
    """Return the runs from best to worst (from high to low if a metric does not say which is better)."""
    sign = 1.0 if higher is False else -1.0
    order = sorted(range(len(values)), key=lambda run: (values[run] is None, sign * (values[run] or 0.0), run))
    place = {run: number for number, run in enumerate(order)}
    apart = {
        tuple(sorted((place[each.first], place[each.second])))
        for each in contrasts
        if each.p_value is not None and each.p_value <= ALPHA
    }
    groups = letters(len(values), [(one, other) for one, other in apart])
    return [Ranked(run, values[run], groups[place[run]]) for run in order]


def as_data(comparisons: Sequence[Comparison], runs: Sequence[Run], notes: Sequence[str]) -> dict[str, Any]:
    """Return a comparison as plain data."""
    from creval.plugin.comparing import plain_data

    def contrast(each: Contrast) -> dict[str, Any]:
        difference = each.difference._asdict() | {"p_value": each.p_value}
        difference["p_value_unadjusted"] = each.difference.p_value
        return {"first": each.first, "second": each.second, **difference, "verdict": each.verdict}

    listed = []
    for each in comparisons:
        data = plain_data(each)
        listed.append(data | {"contrasts": [plain_data(contrast(one)) for one in each.contrasts]})
    named = [{"run": str(run.folder), "model": run.model} for run in runs]
    return {"runs": named, "comparisons": listed, "notes": list(notes)}

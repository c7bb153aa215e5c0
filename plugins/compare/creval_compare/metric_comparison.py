"""Compares runs: two metric by metric, several as a ranking, with the p-values adjusted by Holm.

Several runs in order, and which of them cannot be told apart.

The difference where every try stands for itself: runs whose docs are asked many times, with nothing to pair.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from creval.plugin import Aggregation, Run, UnknownNameError, UsageError
from creval.plugin.comparing import ANY, CONFIDENCE, Clusters, Floats, Scale, derive, difference_interval, load_plugins
from creval_compare.paired import Difference, Interval, Pairs, Verdict, compare_pairs
from creval_compare.pairing import PairedMetric, shared_tasks
from creval_compare.significance import ALPHA, holm, permutation_test

__all__ = [
    "Comparison",
    "ComparisonRequest",
    "Contrast",
    "Ranked",
    "as_data",
    "compare_runs",
    "compare_trials",
    "letters",
    "pairs",
]


_POWER = 0.8


def compare_trials(
    aggregation: Aggregation, sides: tuple[Clusters, Clusters], scale: Scale = ANY, method: str = "auto", seed: int = 0
) -> Difference:
    """Compare two samples of trials: Welch's interval, and the permutation test of which run a trial belongs to.

    Welch (1947, Biometrika 34, 28-35). An aggregation without a standard error has no interval here.
    """
    counts = len(sides[0]), len(sides[1])
    numbers = [aggregation.value(side) if len(side) else None for side in sides]
    first, second = numbers
    if first is None or second is None:
        return Difference(min(counts), first, second, None, no_interval="one side has no value")
    value = second - first
    if min(counts) < 2:
        return Difference(min(counts), first, second, value, no_interval="there is one trial only")
    p_value = permutation_test(aggregation, *sides, seed)
    errors = [aggregation.standard_error(side) for side in sides]
    known = Difference(min(counts), first, second, value, p_value=p_value, test="permutation")
    if None in errors:
        return known._replace(no_interval="the aggregation has no standard error")
    error, freedom = _welch([float(each or 0.0) for each in errors], counts)
    if error == 0 or method == "none":
        return known._replace(no_interval=None if method == "none" else "nothing varies between the trials")
    from scipy.special import nctdtrinc, stdtr, stdtrit

    reach = float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
    least = float(nctdtrinc(freedom, 1 - _POWER, reach)) * error
    ends = difference_interval(value, error, reach, scale.of(aggregation))
    interval = Interval(ends, "welch", 2.0 * float(stdtr(freedom, -abs(value) / error)))
    return interval.joined(known._replace(detectable=least))


def _welch(errors: list[float], counts: tuple[int, int]) -> tuple[float, float]:
    """The standard error of the difference and its degrees of freedom (Welch and Satterthwaite)."""
    squares: Floats = np.square(np.array(errors))
    total = float(squares.sum())
    if total == 0:
        return 0.0, 1.0
    below = sum(square**2 / (count - 1) for square, count in zip(squares, counts, strict=True))
    return math.sqrt(total), total**2 / float(below)


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


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """What is compared: `tasks` and `metrics` by name (none: all), and how.

    `margins`: by metric (under "" for all) the difference, in the metric's unit, that does not matter. `force` compares
    what differs in task, data or instruments too. `primary`: the primary metrics alone.
    """

    tasks: Sequence[str] = ()
    metrics: Sequence[str] = ()
    primary: bool = False
    margins: Mapping[str, float] = field(default_factory=dict)
    force: bool = False

    def margin(self, metric: str) -> float | None:
        """Return the margin of a metric, also where its name carries an instrument in brackets."""
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
    """One metric of one task over all runs. `left_out` docs have a value in some runs only.

    `tests`: the p-values are adjusted by Holm for so many tests. Those of the primary metrics (of the metrics asked
    for by name, where some are) are adjusted together; those of another metric for its own pairs of runs alone.
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
    compared: PairedMetric
    differences: Mapping[tuple[int, int], Difference]

    @property
    def p_values(self) -> list[float]:
        return [1.0 if each.p_value is None else each.p_value for each in self.differences.values()]


def compare_runs(runs: Sequence[Run], asking: ComparisonRequest) -> tuple[list[Comparison], list[str]]:
    """Compare two runs or more in all metrics that they share, and say what else to know.

    Raises UsageError for fewer than two runs, UnknownNameError for a task or metric that is none, and RunError where
    they do not compare (`shared_tasks`).
    """
    if len(runs) < 2:
        raise UsageError("one run has nothing beside it", where="RUN RUN...", fix="Name two runs or more.")
    found: list[_Tested] = []
    notes: list[str] = []
    known: dict[str, None] = {}
    for task in shared_tasks(runs, asking.tasks, asking.force, load_plugins().registry):
        notes += task.notes()
        for key in task.metrics:
            known[key.name] = None
            if not asking.metrics or {key.name, key.name.partition("[")[0]} & set(asking.metrics):
                compared = task.compared(key)
                if compared.metric["primary"] or not asking.primary:
                    found.append(_tested(task.task, compared))
    plain = {name.partition("[")[0] for name in known}
    for name in (*asking.metrics, *filter(None, asking.margins)):
        if name not in known and name not in plain:
            raise UnknownNameError("metric", name, [*known])
    comparisons, note = _adjusted(found, asking)
    return comparisons, list(dict.fromkeys([*notes, *note]))


def _tested(task: str, compared: PairedMetric) -> _Tested:
    every = pairs(len(compared.sides))
    return _Tested(task, compared, {pair: _difference(task, compared, *pair) for pair in every})


def _adjusted(found: Sequence[_Tested], asking: ComparisonRequest) -> tuple[list[Comparison], list[str]]:
    """Adjust the p-values by Holm: of the primary metrics (or those asked for) together, of others each for itself."""
    family = [bool(asking.metrics) or bool(each.compared.metric["primary"]) for each in found]
    together = iter(holm([p for each, own in zip(found, family, strict=True) if own for p in each.p_values]))
    tests = sum(len(each.differences) for each, own in zip(found, family, strict=True) if own)
    comparisons = []
    for each, own in zip(found, family, strict=True):
        count = len(each.differences)
        adjusted = [next(together) for _ in range(count)] if own else holm(each.p_values)
        margin = asking.margin(each.compared.key.name)
        comparisons.append(_comparison(each, adjusted, tests if own else count, margin))
    if sum(family) < 2:
        return comparisons, []
    which = "metrics asked for" if asking.metrics else "primary metrics"
    note = f"p and verdict of the {sum(family)} {which} are adjusted by Holm for {tests} tests; intervals are not"
    rest = "" if all(family) else "; those of the other metrics are not adjusted for their number"
    return comparisons, [note + rest]


def _comparison(tested: _Tested, adjusted: Sequence[float], tests: int, margin: float | None) -> Comparison:
    task, compared, differences = tested
    metric = compared.metric
    higher = metric["higher_is_better"]
    contrasts = []
    for (pair, difference), adjusted_p in zip(differences.items(), adjusted, strict=True):
        p_value = None if difference.p_value is None else adjusted_p
        verdict = difference._replace(p_value=p_value).verdict(higher, margin)
        contrasts.append(Contrast(*pair, difference, p_value, verdict))
    return Comparison(
        task=task,
        metric=compared.key.name,
        condition=compared.key.condition,
        primary=metric["primary"],
        higher_is_better=higher,
        unit=metric["cluster"],
        docs=len(compared.docs) if compared.paired else min(map(len, compared.sides)),
        left_out=compared.left_out,
        margin=margin,
        tests=tests,
        ranking=_ranking(compared, contrasts, higher),
        contrasts=contrasts,
    )


def _difference(task: str, compared: PairedMetric, one: int, other: int) -> Difference:
    seed = derive(0, "compare", task, *compared.key, one, other)
    sides = compared.sides[one], compared.sides[other]
    method = compared.metric["definition"]["ci"]
    if not compared.paired:
        return compare_trials(compared.aggregation, sides, compared.scale, method, seed)
    return compare_pairs(compared.aggregation, Pairs(compared.docs, *sides), compared.scale, method, seed)


def _ranking(compared: PairedMetric, contrasts: Sequence[Contrast], higher: bool | None) -> list[Ranked]:
    """The runs from best to worst (from high to low where a metric does not say which is better)."""
    values = [compared.aggregation.value(side) if len(side) else None for side in compared.sides]
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

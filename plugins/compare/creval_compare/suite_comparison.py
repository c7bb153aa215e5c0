"""The numbers of suites that runs share: the difference of a mean over tasks, from those of the tasks."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import Run
from creval.plugin.comparing import CONFIDENCE, Scale, quantile
from creval_compare.difference_intervals import difference_interval
from creval_compare.paired import POWER, Difference, Pairs, Spread, paired_spread, within_scale
from creval_compare.pairing import MetricKey, PairedMetric, SharedTask
from creval_compare.trials import trial_spread, welch

__all__ = ["SuiteNumber", "suite_numbers"]


@dataclass(frozen=True, slots=True)
class SuiteNumber:
    """One number of a suite: `parts` are the metrics of its tasks, `shares` what each counts by in the mean.

    `offset` is added to the mean: what scales from 0 to 1 take off, where the number has such.
    """

    suite: str
    metric: Mapping[str, Any]
    parts: Sequence[PairedMetric]
    shares: Sequence[float]
    offset: float = 0.0

    @property
    def key(self) -> MetricKey:
        return MetricKey(self.metric["name"], None)

    @property
    def docs(self) -> int:
        return self._of_tasks(lambda part: len(part.docs) if part.paired else min(map(len, part.sides)))

    @property
    def left_out(self) -> int:
        return self._of_tasks(lambda part: part.left_out)

    def _of_tasks(self, count: Callable[[PairedMetric], int]) -> int:
        """Return the sum over tasks of the greatest count of their metrics."""
        found: dict[str, int] = {}
        for part, about in zip(self.parts, self.metric["tasks"], strict=True):
            found[about["task"]] = max(found.get(about["task"], 0), count(part))
        return sum(found.values())

    def value(self, run: int) -> float | None:
        """Return the number of one run over the docs that all have."""
        sides = [part.sides[run] for part in self.parts]
        values = [p.aggregation.value(side) if len(side) else None for p, side in zip(self.parts, sides, strict=True)]
        return _weighted(self.shares, values, self.offset)

    def difference(self, one: int, other: int) -> Difference:
        """Compare two runs: the standard errors of the tasks' differences are added as those of independent samples.

        Those of several metrics of one task are added as they are. The interval and the p-value are those of the t
        distribution with Satterthwaite's degrees of freedom.
        """
        first, second = self.value(one), self.value(other)
        if first is None or second is None:
            return Difference(self.docs, first, second, None, no_interval="a task has no value on both sides")
        value = second - first
        found = Difference(self.docs, first, second, value)
        spreads = [_spread(part, one, other) for part in self.parts]
        known = [each for each in spreads if each is not None]
        if len(known) < len(spreads):
            return found._replace(no_interval="the difference in a task has no standard error")
        errors: dict[str, float] = {}
        sizes: dict[str, float] = {}
        for share, each, about in zip(self.shares, known, self.metric["tasks"], strict=True):
            errors[about["task"]] = errors.get(about["task"], 0.0) + share * each.error
            sizes[about["task"]] = min(sizes.get(about["task"], math.inf), each.freedom + 1)
        error, freedom = welch(list(errors.values()), list(sizes.values()))
        if error == 0:
            return found._replace(no_interval="the difference is the same on every doc")
        from scipy.special import nctdtrinc, stdtr

        centre = math.fsum(share * each.centre for share, each in zip(self.shares, known, strict=True))
        reach = float(quantile(freedom, CONFIDENCE))
        low, high = difference_interval(centre, error, reach, self._scale)
        return found._replace(
            low=min(low, value),
            high=max(high, value),
            method="t",
            p_value=2.0 * float(stdtr(freedom, -abs(centre) / error)),
            test="t",
            detectable=within_scale(float(nctdtrinc(freedom, 1 - POWER, reach)) * error, self._scale),
        )

    @property
    def _scale(self) -> Scale:
        """What the number can be: the mean of what the metrics of the tasks can be."""
        scales = [part.scale.of(part.aggregation) for part in self.parts]
        lows, highs = [scale.low for scale in scales], [scale.high for scale in scales]
        return Scale(_weighted(self.shares, lows, self.offset), _weighted(self.shares, highs, self.offset))


def _weighted(shares: Sequence[float], values: Sequence[float | None], offset: float) -> float | None:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    return offset + math.fsum(share * value for share, value in zip(shares, known, strict=True))


def _spread(part: PairedMetric, one: int, other: int) -> Spread | None:
    sides = part.sides[one], part.sides[other]
    if not part.paired:
        return trial_spread(part.aggregation, sides)
    return paired_spread(part.aggregation, Pairs(part.docs, *sides), part.scale)


def suite_numbers(
    runs: Sequence[Run], wanted: Sequence[str], task_of: Callable[[str], SharedTask]
) -> Iterator[SuiteNumber | str]:
    """Yield the numbers of the suites that all runs hold (of those named, where any is), and what cannot be compared.

    `task_of` opens a task that all runs hold.
    """
    held = [{each["qualified"]: each for each in run.results.get("suites", ())} for run in runs]
    for name, suite in held[0].items():
        if not all(name in other for other in held[1:]) or (wanted and suite["task"] not in wanted):
            continue
        for metric in suite["metrics"]:
            others = [_named(other[name], metric["name"]) for other in held[1:]]
            if any(other is None or _made_of(other) != _made_of(metric) for other in others):
                yield f"{suite['task']}: {metric['name']} not compared, as the runs made it of other tasks or metrics"
                continue
            keys = [(task_of(each["task"]), MetricKey(each["metric"], None)) for each in metric["tasks"]]
            if not all(key in task.metrics for task, key in keys):
                yield f"{suite['task']}: {metric['name']} not compared, as its tasks were run under other conditions"
                continue
            parts = [task.compared(key) for task, key in keys]
            yield SuiteNumber(suite["task"], metric, parts, *_shares(metric, parts))


def _named(suite: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    return next((each for each in suite["metrics"] if each["name"] == name), None)


def _made_of(metric: Mapping[str, Any]) -> str:
    keys = ("task", "metric", "share", "range")
    return json.dumps([metric["average"], [[each.get(key) for key in keys] for each in metric["tasks"]]])


def _shares(metric: Mapping[str, Any], parts: Sequence[PairedMetric]) -> tuple[list[float], float]:
    """What each metric counts by, and what is added: alike, by its number of values in the runs together, or as stated.

    A metric with a scale counts by its share over the width of the scale.
    """
    if metric["average"] == "parts":
        ends = [(each["share"], *each["range"]) for each in metric["tasks"]]
        return [share / (high - low) for share, low, high in ends], -math.fsum(s * lo / (hi - lo) for s, lo, hi in ends)
    weighted = metric["average"] == "weighted"
    sizes = [sum(int(side.sizes.sum()) for side in part.sides) if weighted else 1 for part in parts]
    return [size / max(1, sum(sizes)) for size in sizes], 0.0

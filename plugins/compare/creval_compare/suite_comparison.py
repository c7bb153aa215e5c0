"""The numbers of suites that runs share: the difference of a mean over tasks, from those of the tasks."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import Run
from creval.plugin.comparing import CONFIDENCE, Scale, difference_interval, quantile
from creval_compare.paired import POWER, Difference, Pairs, Spread, paired_spread, within_scale
from creval_compare.pairing import MetricKey, PairedMetric, SharedTask
from creval_compare.trials import trial_spread, welch

__all__ = ["SuiteNumber", "suite_numbers"]


@dataclass(frozen=True, slots=True)
class SuiteNumber:
    """One number of a suite: `parts` are the metric of its tasks, `shares` what each counts by in the mean."""

    suite: str
    metric: Mapping[str, Any]
    parts: Sequence[PairedMetric]
    shares: Sequence[float]

    @property
    def key(self) -> MetricKey:
        return MetricKey(self.metric["name"], None)

    @property
    def docs(self) -> int:
        return sum(len(part.docs) if part.paired else min(map(len, part.sides)) for part in self.parts)

    @property
    def left_out(self) -> int:
        return sum(part.left_out for part in self.parts)

    def value(self, run: int) -> float | None:
        """Return the number of one run over the docs that all have."""
        sides = [part.sides[run] for part in self.parts]
        values = [p.aggregation.value(side) if len(side) else None for p, side in zip(self.parts, sides, strict=True)]
        return _weighted(self.shares, values)

    def difference(self, one: int, other: int) -> Difference:
        """Compare two runs: the standard errors of the tasks' differences are added as those of independent samples.

        The interval and the p-value are those of the t distribution with Satterthwaite's degrees of freedom.
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
        errors = [share * each.error for share, each in zip(self.shares, known, strict=True)]
        error, freedom = welch(errors, [each.freedom + 1 for each in known])
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
        return Scale(_weighted(self.shares, lows), _weighted(self.shares, highs))


def _weighted(shares: Sequence[float], values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    return math.fsum(share * value for share, value in zip(shares, known, strict=True))


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
            yield SuiteNumber(suite["task"], metric, parts, _shares(metric, parts))


def _named(suite: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    return next((each for each in suite["metrics"] if each["name"] == name), None)


def _made_of(metric: Mapping[str, Any]) -> str:
    return json.dumps([metric["average"], [[each["task"], each["metric"]] for each in metric["tasks"]]])


def _shares(metric: Mapping[str, Any], parts: Sequence[PairedMetric]) -> list[float]:
    """What each task counts by: alike, or by its number of values in the runs together."""
    weighted = metric["average"] == "weighted"
    sizes = [sum(int(side.sizes.sum()) for side in part.sides) if weighted else 1 for part in parts]
    return [size / max(1, sum(sizes)) for size in sizes]

"""Finds the floor and the ceiling of a task among the runs of a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from creval.errors import CrevalError
from creval.opener import read_json

__all__ = ["Baselines", "NumberBasis", "find_baselines"]

_ORDER = ("floor", "ceiling")


class NumberBasis(NamedTuple):
    """The basis of a task's numbers: the task (its hash), data, chosen docs, repeats and the user's settings."""

    task: str
    dataset: str
    docs: str
    repeats: int
    settings: str = ""

    @classmethod
    def of(cls, task: Mapping[str, Any]) -> NumberBasis:
        """Read it from a task's part of results.json; docs without a digest equal no others."""
        own = [task.get(name) or {} for name in ("generation_overrides", "condition_overrides", "prompt_overrides")]
        own = own if own[2] else own[:2]
        settings = json.dumps(own, sort_keys=True) if any(own) else ""
        return cls(task["hash"], task["dataset"], task.get("docs_digest", ""), task.get("repeats", 0), settings)


@dataclass(frozen=True, slots=True)
class Baselines:
    """The values of `baseline/floor` and `baseline/ceiling` by basis, metric, condition, and which of the two.

    `faults` says which other runs in the folder could not be read, and why.
    """

    values: Mapping[tuple[NumberBasis, str, str | None, str], float] = field(default_factory=dict)
    faults: Sequence[str] = ()

    def value_of(self, task: Mapping[str, Any], metric: Mapping[str, Any], which: str) -> float | None:
        """Return the floor or ceiling of a metric over the same task and docs, or None."""
        return self.values.get((NumberBasis.of(task), metric["name"], metric["condition"], which))

    def known(self, task: Mapping[str, Any]) -> list[str]:
        """Return which baselines of a task were found over the same docs."""
        return self._ordered(key[3] for key in self.values if key[0] == NumberBasis.of(task))

    def elsewhere(self, task: Mapping[str, Any]) -> list[str]:
        """Return which baselines of a task were found only over other docs."""
        found = self._ordered(key[3] for key in self.values if key[0].task == task["hash"])
        return [which for which in found if which not in self.known(task)]

    @staticmethod
    def _ordered(names_found: Iterator[str]) -> list[str]:
        names = set(names_found)
        return [which for which in _ORDER if which in names]


def find_baselines(folder: Path) -> Baselines:
    """Read the finished runs of `baseline/floor` and `baseline/ceiling` directly under `folder`.

    Runs with skipped samples (stopped by a budget) do not count; of several others the one with most values does. A run
    that cannot be read is listed in `faults` and raises nothing.
    """
    values: dict[tuple[NumberBasis, str, str | None, str], float] = {}
    sizes: dict[tuple[NumberBasis, str, str | None, str], int] = {}
    faults = []
    for file in sorted(folder.glob("*/results.json")):
        try:
            results = read_json(file)
            provider, _, which = str(results.get("model", "")).partition("/")
            metric_values = list(_values(results, which)) if provider == "baseline" else []
        except (CrevalError, OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
            why = error.what if isinstance(error, CrevalError) else "it is not a results file"
            faults.append(f"{file} is ignored: {why}")
            continue
        for key, value, n in metric_values:
            if n > sizes.get(key, 0):
                sizes[key], values[key] = n, value
    return Baselines(values, faults)


def _values(
    results: Mapping[str, Any], which: str
) -> Iterator[tuple[tuple[NumberBasis, str, str | None, str], float, int]]:
    """Yield (key, value, number of values) of each metric over all samples of a run."""
    for task in [*results["tasks"], *results.get("suites", ())]:
        for metric in task["metrics"]:
            if metric["value"] is not None and not metric["counts"]["skipped"]:
                key = (NumberBasis.of(task), metric["name"], metric["condition"], which)
                yield key, float(metric["value"]), int(metric["n"])

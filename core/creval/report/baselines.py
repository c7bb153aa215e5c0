"""Finds the floor and the ceiling of a task among the runs of a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Asked", "Baselines", "find_baselines"]

_ORDER = ("floor", "ceiling")


class Asked(NamedTuple):
    """What a task's numbers are over: the task (its hash), data, docs chosen, tries a doc, and settings of the user."""

    task: str
    dataset: str
    docs: str
    repeats: int
    settings: str = ""

    @classmethod
    def of(cls, task: Mapping[str, Any]) -> Asked:
        """Read it from a task's part of results.json; docs that it does not name are like no others."""
        own = [task.get(name) or {} for name in ("generation_overrides", "condition_overrides")]
        settings = json.dumps(own, sort_keys=True) if any(own) else ""
        return cls(task["hash"], task["dataset"], task.get("docs_digest", ""), task.get("repeats", 0), settings)


@dataclass(frozen=True, slots=True)
class Baselines:
    """What `baseline/floor` and `baseline/ceiling` reached: by what was asked, metric, condition, and which of them."""

    values: Mapping[tuple[Asked, str, str | None, str], float] = field(default_factory=dict)

    def beside(self, task: Mapping[str, Any], metric: Mapping[str, Any], which: str) -> float | None:
        """Return the floor or ceiling of a metric over the same task and docs; None where no run has it."""
        return self.values.get((Asked.of(task), metric["name"], metric["condition"], which))

    def known(self, task: Mapping[str, Any]) -> list[str]:
        """Return which baselines of a task were found over the same docs."""
        return self._ordered(key[3] for key in self.values if key[0] == Asked.of(task))

    def elsewhere(self, task: Mapping[str, Any]) -> list[str]:
        """Return which baselines of a task were found, but over other docs alone."""
        found = self._ordered(key[3] for key in self.values if key[0].task == task["hash"])
        return [which for which in found if which not in self.known(task)]

    @staticmethod
    def _ordered(found: Iterator[str]) -> list[str]:
        names = set(found)
        return [which for which in _ORDER if which in names]


def find_baselines(folder: Path) -> Baselines:
    """Read the finished runs of `baseline/floor` and `baseline/ceiling` directly under `folder`.

    Runs that left samples out (stopped by a budget) do not count; of several others the one with most values does.
    """
    values: dict[tuple[Asked, str, str | None, str], float] = {}
    sizes: dict[tuple[Asked, str, str | None, str], int] = {}
    for file in sorted(folder.glob("*/results.json")):
        results = _read(file)
        provider, _, which = str(results.get("model", "")).partition("/")
        if provider != "baseline":
            continue
        try:
            found = list(_values(results, which))
        except (KeyError, TypeError, AttributeError):
            continue  # a damaged file of another run is no reason to fail for this one
        for key, value, n in found:
            if n > sizes.get(key, 0):
                sizes[key], values[key] = n, value
    return Baselines(values)


def _values(results: Mapping[str, Any], which: str) -> Iterator[tuple[tuple[Asked, str, str | None, str], float, int]]:
    """Yield (key, value, number of values) of each metric over a run's whole samples."""
    for task in results["tasks"]:
        for metric in task["metrics"]:
            if metric["value"] is not None and not metric["counts"]["skipped"]:
                key = (Asked.of(task), metric["name"], metric["condition"], which)
                yield key, float(metric["value"]), int(metric["n"])


def _read(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}

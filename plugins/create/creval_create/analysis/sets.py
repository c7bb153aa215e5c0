"""Sets of judged paths from runs: any patience, threshold and rule without judge or encoder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from creval.plugin import DataError, Run, RunError, Sample, ScoreRecord, Status, open_runs
from creval_create.paths.triples import Path, as_path
from creval_create.paths.validity import Validity
from creval_create.utility.distance import mean_distance, transformed
from creval_create.utility.rules import Rules
from creval_create.utility.strength import path_strength
from creval_create.utility.utility import utility

__all__ = ["JudgedSet", "UnjudgedError", "iterate_sets", "read_sets"]


class UnjudgedError(DataError):
    """A set can't be scored by a rule, as it lacks verdicts that nobody requested."""


@dataclass(frozen=True)
class JudgedSet:
    """The paths of a sample with their verdicts; an unreadable answer is an empty set, as in the paper."""

    model: str
    task: str
    doc: str
    repeat: int
    fields: Mapping[str, Any]
    details: Mapping[str, Any]
    tokens: int | None
    calls: int
    condition: str = "default"

    @cached_property
    def paths(self) -> Sequence[Mapping[str, Any]]:
        """Return the readable paths, as stored in the score."""
        found: Sequence[Mapping[str, Any]] = self.details.get("paths", ())
        return found

    @cached_property
    def own_rules(self) -> Rules:
        """Return the rules that the run was scored by."""
        return Rules(**self.details.get("rules", {}))

    @cached_property
    def _rows(self) -> Mapping[int, int]:
        return {place: row for row, place in enumerate(self.details.get("embedded", ()))}

    @cached_property
    def raw(self) -> np.ndarray:
        """Return the cosine distances of the paths with a judged strength."""
        lines = self.details.get("distances", ())
        found = np.zeros((len(lines), len(lines)))
        for row, line in enumerate(lines):
            found[row, :row] = found[:row, row] = line
        return found

    def path(self, place: int) -> Path:
        """Return a path."""
        return as_path(self.paths[place]["triples"])

    def valid(self, rule: Validity) -> list[int]:
        """Return the indices of the distinct paths that a rule accepts."""
        return [i for i, path in enumerate(self.paths) if not path.get("repeats") and rule not in path["refused"]]

    def strength(self, place: int, rules: Rules) -> int:
        """Return the strength of a path. Raises UnjudgedError if it was not judged."""
        sizes = self.paths[place].get("class_sizes")
        if sizes is None:
            raise self._unjudged("the strength of a path", "strength_of: valid")
        return path_strength(sizes, rules.last_triple)

    def share_true(self, place: int) -> float:
        """Return the share of true triples of a path. Raises UnjudgedError if it was not judged."""
        factual = self.paths[place].get("factual")
        if factual is None:
            raise self._unjudged("a path that is valid by another rule", "also: [shared, released]")
        return float(sum(factual) / len(factual))

    def counted(self, rules: Rules, threshold: float = 1.0) -> list[int]:
        """Return the indices of the valid paths with at least this share of true triples (Figure 5; 1: all)."""
        return [place for place in self.valid(rules.validity) if self.share_true(place) >= threshold]

    def distances(self, places: Sequence[int], rules: Rules) -> np.ndarray:
        """Return the transformed distances of some paths. Raises UnjudgedError if a strength was not judged."""
        for place in places:
            self.strength(place, rules)
        rows = self.rows(places)
        return transformed(self.raw[np.ix_(rows, rows)], rules.over_one)

    def rows(self, places: Sequence[int]) -> list[int]:
        """Return the rows in `raw` of some paths with a judged strength."""
        return [self._rows[place] for place in places]

    def worth(self, rules: Rules, patience: float, threshold: float = 1.0) -> float:
        """Return the creative utility of the set. Raises UnjudgedError."""
        places = self.counted(rules, threshold)
        qualities = [self.strength(place, rules) for place in places]
        return utility(qualities, self.distances(places, rules), rules, patience)

    def mean_distance(self, rules: Rules, threshold: float = 1.0) -> float | None:
        """Return the mean distance over pairs, or None for fewer than two paths."""
        return mean_distance(self.distances(self.counted(rules, threshold), rules))

    def _unjudged(self, what: str, setting: str) -> UnjudgedError:
        return UnjudgedError(
            f"{what} was not judged",
            where=f"{self.model}, {self.task}, doc {self.doc}",
            fix="Add --judge-missing (create-table, create-patience, create-factuality): the run's judge is asked and "
            f"its verdicts are kept. Or make the run with {{create: {{{setting}}}}}.",
        )


def read_sets(runs: Sequence[str]) -> list[JudgedSet]:
    """Return the sets of all CREATE tasks of some runs at once; see `iterate_sets`."""
    return list(iterate_sets(runs))


def iterate_sets(runs: Sequence[str]) -> Iterator[JudgedSet]:
    """Yield the sets of all CREATE tasks of some runs, but none of errored samples, with one run's scores in memory.

    Raises RunError if a run is incomplete, is named twice or has no CREATE task; DataError if runs were judged
    or embedded by different resources, or have the same task of the same model.
    """
    for run, task in _parts(runs):
        yield from (_set(run, sample, score) for sample, score in run.scored(task) if _counts(score))


def _parts(runs: Sequence[str]) -> list[tuple[Run, str]]:
    """Return the tasks to read, after checking that they are compatible."""
    found: list[tuple[Run, str]] = []
    resources: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    for run in open_runs(runs):
        tasks = [task for task in run.tasks if _is_create(run, task)]
        if not tasks:
            raise RunError(
                "the run contains no task of CREATE", where=str(run.folder), fix="Name runs of create tasks."
            )
        for task in tasks:
            if (run.model, task) in seen:
                message = f"two runs hold {task!r} of the model {run.model!r}"
                raise DataError(message, where=str(run.folder), fix="Name one of them.")
            seen.add((run.model, task))
            used = run.result(task)["instruments"]
            resources[f"{run.folder} ({task})"] = f"{used['judge']}, {used['embedding']}"
            found.append((run, task))
    if len(set(resources.values())) > 1:
        made = "; ".join(f"{run}: {names}" for run, names in resources.items())
        raise DataError(
            f"the runs were judged or embedded by different resources: {made}",
            fix="Score them the same way: creval score RUN --role judge=MODEL",
        )
    return found


def _is_create(run: Run, task: str) -> bool:
    used = run.result(task)["instruments"]
    fields = next((sample.doc for sample in run.samples(task)), {})
    return {"judge", "embedding"} <= used.keys() and {"entity_a", "rel_b", "entity_b"} <= fields.keys()


def _counts(score: ScoreRecord) -> bool:
    return score.status is Status.SCORED or score.status.is_failure


def _set(run: Run, sample: Sample, score: ScoreRecord) -> JudgedSet:
    replies = [reply for call in sample.calls if call.role == "target" and (reply := call.reply) is not None]
    tokens = sum(reply.usage.output_tokens for reply in replies)
    details = score.details if score.status is Status.SCORED else {}
    task, doc, condition, repeat = sample.key
    return JudgedSet(run.model, task, doc, repeat, sample.doc, details, tokens or None, len(replies), condition)

"""`creval analyse create-distinctiveness`: how far paths lie from those of all models (Eq. 3, Tables 2 and 7)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from creval import RunOptions
from creval.plugin import AnalysisOutput, DataError, FieldSpec, UnknownNameError, Workbench, open_runs
from creval_create.analysis.numbers import grouped, summary
from creval_create.analysis.output import OUTPUT, Found, finish
from creval_create.analysis.population import Member, Nearest, nearest_of
from creval_create.analysis.sets import JudgedSet, read_sets
from creval_create.utility.rules import Rules

__all__ = ["CreateDistinctiveness"]

_OWN = ("run", "others")
_COLUMNS = ("model", "task", "avg nu", "max nu", "avg strength", "num", "paths", "found by one model")
Key = tuple[str, str]


class CreateDistinctiveness:
    """Kind `analysis`: mean and best distinctiveness of strong paths against the paths of all runs named.

    For each query the population are the valid and factual paths of all runs. `own` says what of a path's own set
    counts as population: `run`, nothing of its own run (the default); `others`, all but the path itself. Of each set
    the paths of strength 3 or more are looked at, in at most `queries` queries that the seed draws, the same for every
    run.
    """

    example = "runs/one runs/other"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse create-distinctiveness`."""
        return (
            FieldSpec("own", "string", "run", "Left out of the population: its own run, or (others) only itself."),
            FieldSpec("strength", "integer", 3, "Least strength of a path that is looked at."),
            FieldSpec("queries", "integer", 300, "Queries at most, drawn by the seed."),
            FieldSpec("seed", "integer", 0, "Seed of the draw."),
            FieldSpec("near", "number", 0.1, "A path within this distance is the same one, found by its model too."),
            FieldSpec("offline", "boolean", True, "Forbid the network."),
            OUTPUT,
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Embed the population of each query once and find what is nearest to each path."""
        chosen = {spec.name: spec.default for spec in self.options()}
        chosen |= {name: value for name, value in options.items() if value is not None}
        if chosen["own"] not in _OWN:
            raise UnknownNameError("population", str(chosen["own"]), _OWN, where="--own")
        sets = read_sets(runs)
        sets = _subsample(sets, int(chosen["queries"]), int(chosen["seed"]))
        if len({(one.model, one.task) for one in sets}) < 2 and chosen["own"] == "run":
            raise DataError("one run has no population beside it", cure="Name several runs, or --own others.")
        first = open_runs(runs)[0]
        with Workbench(RunOptions(offline=bool(chosen["offline"]))) as bench:
            embedding = bench.instrument(first, sets[0].task, "embedding")
            found = [
                near
                for query in grouped((one.doc, one) for one in sets).values()
                for near in nearest_of(_members(query), embedding, str(chosen["own"]), float(chosen["near"]))
            ]
        rows = _rows(sets, found, int(chosen["strength"]))
        details = [near.plain() for near in found if near.member.strength >= int(chosen["strength"])]
        notes = [
            f"Population: valid and factual paths of all runs for the same query; own: {chosen['own']}. Queries: "
            f"{len({one.doc for one in sets})}, seed {chosen['seed']}. avg nu: mean over queries of the mean, max nu: "
            "of the largest; num: queries with a path that passes.",
        ]
        found_table = Found("create-distinctiveness", "CREATE, Table 2", _COLUMNS, rows, notes, {"paths": details})
        return finish(found_table, options)


def _subsample(sets: Sequence[JudgedSet], most: int, seed: int) -> list[JudgedSet]:
    docs = sorted({one.doc for one in sets})
    kept = set(random.Random(seed).sample(docs, min(most, len(docs))))
    return [one for one in sets if one.doc in kept]


def _members(sets: Sequence[JudgedSet]) -> list[Member]:
    """The population of one query: every valid and factual path."""
    return [
        Member(one.model, one.task, one.doc, one.path(place), one.strength(place, one.own_rules))
        for one in sets
        for place in one.counted(Rules())
    ]


def _rows(sets: Sequence[JudgedSet], found: Sequence[Nearest], least: int) -> list[Sequence[Any]]:
    strong = grouped(((near.member.model, near.member.task), near) for near in found if near.member.strength >= least)
    rows: list[Sequence[Any]] = []
    for key in dict.fromkeys((one.model, one.task) for one in sets):
        near: Mapping[str, list[Nearest]] = grouped((each.member.doc, each) for each in strong.get(key, ()))
        values = [[each.distance for each in group if each.distance is not None] for group in near.values()]
        known = [group for group in values if group]
        rows.append(
            (
                *key,
                summary(sum(group) / len(group) for group in known).mean,
                summary(max(group) for group in known).mean,
                summary(float(each.member.strength) for each in strong.get(key, ())).mean,
                len(near),
                len(strong.get(key, ())),
                sum(each.models == 0 for each in strong.get(key, ())),
            )
        )
    return rows

"""`creval analyse create-distinctiveness`: how far paths lie from those of all models (Eq. 3, Tables 2 and 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from creval import RunOptions
from creval.plugin import AnalysisOutput, DataError, FieldSpec, UnknownNameError, open_runs
from creval.plugin.workbench import Workbench
from creval_create.analysis.numbers import grouped, summary
from creval_create.analysis.output import OUTPUT, Found, finish
from creval_create.analysis.population import Nearest, Population
from creval_create.analysis.sets import iterate_sets

__all__ = ["CreateDistinctiveness"]

_OWN = ("run", "others")
_COLUMNS = ("model", "task", "avg nu", "max nu", "avg strength", "num", "paths", "found by one model")


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
            FieldSpec("queries", "integer", 300, "Queries at most, drawn by the seed.", minimum=1),
            FieldSpec("seed", "integer", 0, "Seed of the draw.", minimum=0),
            FieldSpec("near", "number", 0.1, "A path within this distance is the same one, found by its model too."),
            FieldSpec("offline", "boolean", True, "Do not use the network."),
            OUTPUT,
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Embed the population of each query once and find what is nearest to each path."""
        chosen = {spec.name: spec.default for spec in self.options()}
        chosen |= {name: value for name, value in options.items() if value is not None}
        if chosen["own"] not in _OWN:
            raise UnknownNameError("population", str(chosen["own"]), _OWN, where="--own")
        population = Population.of(iterate_sets(runs))
        if len(population.runs) < 2 and chosen["own"] == "run":
            raise DataError("one run has no population beside it", fix="Name several runs, or --own others.")
        docs = population.drawn(int(chosen["queries"]), int(chosen["seed"]))
        with Workbench(RunOptions(offline=bool(chosen["offline"]))) as bench:
            embedding = bench.instrument(open_runs(runs)[0], population.runs[0][1], "embedding")
            found = population.nearest(docs, embedding, str(chosen["own"]), float(chosen["near"]))
        rows = _rows(population.runs, found, int(chosen["strength"]))
        details = [near.plain() for near in found if near.member.strength >= int(chosen["strength"])]
        notes = [
            f"Population: valid and factual paths of all runs for the same query; own: {chosen['own']}. Queries: "
            f"{len(docs)}, seed {chosen['seed']}. avg nu: mean over queries of the mean, max nu: "
            "of the largest; num: queries with a path that passes.",
        ]
        found_table = Found("create-distinctiveness", "CREATE, Table 2", _COLUMNS, rows, notes, {"paths": details})
        return finish(found_table, options)


def _rows(runs: Sequence[tuple[str, str]], found: Sequence[Nearest], least: int) -> list[Sequence[Any]]:
    strong = grouped(((near.member.model, near.member.task), near) for near in found if near.member.strength >= least)
    rows: list[Sequence[Any]] = []
    for key in runs:
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

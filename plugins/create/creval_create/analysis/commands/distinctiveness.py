"""`creval analyse create-distinctiveness`: distance of paths from those of all models (Eq. 3, Tables 2 and 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from creval import RunOptions
from creval.plugin import AnalysisOutput, DataError, FieldSpec, UnknownNameError, open_runs
from creval_analyses.workbench import Workbench
from creval_create.analysis.numbers import grouped, summary
from creval_create.analysis.output import OUTPUT, Found, finish
from creval_create.analysis.population import Member, Nearest, Population
from creval_create.analysis.sets import iterate_sets
from creval_create.paths.triples import Path

__all__ = ["CreateDistinctiveness"]

_OWN = ("run", "others")
_COLUMNS = ("model", "task", "avg nu", "max nu", "avg strength", "num", "paths", "found by one model")
_PATHS = ("model", "task", "path", "strength", "nearest path", "distance", "other models")
_PUBLISHED = "create_published"
"""Prefix of the tasks over the paper's queries."""
_SOURCE = "arXiv:2603.09970, Table 2"
PRINTED: Sequence[Sequence[Any]] = tuple(
    (model, f"{variation} ({_SOURCE})", *numbers, None, None)
    for model, variation, *numbers in (
        ("Gemini-3-pro", "original", 0.04, 0.12, 3.77, 223),
        ("GPT-5", "original", 0.02, 0.10, 3.73, 224),
        ("GPT-4.1", "original", 0.03, 0.08, 3.76, 215),
        ("GPT-4.1", "creative", 0.028, 0.079, 3.793, 216),
        ("GPT-4.1", "verbalized", 0.020, 0.049, 3.820, 184),
        ("GPT-4.1", "iterate", 0.053, 0.138, 3.600, 205),
        ("GPT-5-mini", "original", 0.02, 0.07, 3.76, 208),
        ("GPT-5-mini", "creative", 0.03, 0.08, 3.75, 216),
        ("GPT-5-mini", "verbalized", 0.02, 0.05, 3.76, 214),
        ("GPT-5-mini", "iterate", 0.06, 0.15, 3.60, 225),
    )
)
"""The rows of the paper's Table 2; it filters strength below 3 (its "quality <= 3" is an error, see docs/create.md)."""


class CreateDistinctiveness:
    """Kind `analysis`: mean and best distinctiveness of strong paths against the paths of all runs named.

    The population of a query is the valid and factual paths of all runs. `own` selects which paths of a path's own set
    belong to the population: `run`, none of its run (the default); `others`, all but the path itself. Of each set
    the analysis uses the paths of strength 3 or more, in at most `queries` queries, sampled by the seed, the same for
    every run. `query` lists the single paths of one query instead, the most distinctive first (Table 7).
    """

    example = "runs/one runs/other"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse create-distinctiveness`."""
        return (
            FieldSpec("own", "string", "run", "Left out of the population: its own run, or (others) only itself."),
            FieldSpec("strength", "integer", 3, "Minimum strength of a path."),
            FieldSpec("queries", "integer", 300, "Maximum number of queries, drawn with --seed.", minimum=1),
            FieldSpec("query", "string", None, "List the paths of this query with their nearest paths (Table 7)."),
            FieldSpec("seed", "integer", 0, "Seed of the draw.", minimum=0),
            FieldSpec("near", "number", 0.1, "A path within this distance is the same one, found by its model too."),
            FieldSpec("offline", "boolean", True, "Do not use the network."),
            OUTPUT,
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Embed the population of each query once and find the nearest path to each path."""
        chosen = {spec.name: spec.default for spec in self.options()}
        chosen |= {name: value for name, value in options.items() if value is not None}
        if chosen["own"] not in _OWN:
            raise UnknownNameError("population", str(chosen["own"]), _OWN, where="--own")
        population = Population.of(iterate_sets(runs))
        if len(population.runs) < 2 and chosen["own"] == "run":
            raise DataError("one run has no population", fix="Name several runs, or --own others.")
        query = chosen["query"]
        if query is not None and query not in population.queries:
            raise UnknownNameError("query", str(query), population.queries, where="--query")
        docs = [str(query)] if query is not None else population.drawn(int(chosen["queries"]), int(chosen["seed"]))
        with Workbench(RunOptions(offline=bool(chosen["offline"]))) as bench:
            embedding = bench.resource_of(open_runs(runs)[0], population.runs[0][1], "embedding")
            found = population.nearest(docs, embedding, str(chosen["own"]), float(chosen["near"]))
        if query is not None:
            return finish(_single_paths(found, int(chosen["strength"]), str(query)), options)
        rows = _rows(population.runs, found, int(chosen["strength"]))
        details = [near.plain() for near in found if near.member.strength >= int(chosen["strength"])]
        notes = [
            f"Population: valid and factual paths of all runs for the same query; own: {chosen['own']}. Queries: "
            f"{len(docs)}, seed {chosen['seed']}. avg nu: mean over queries of the mean, max nu: "
            "of the largest; num: queries with a path that passes."
        ]
        if any(task.startswith(_PUBLISHED) for _, task in population.runs):
            rows += PRINTED
            notes.append("The rows of Table 2 are the paper's, against the paths of all its models.")
        found_table = Found("create-distinctiveness", "CREATE, Table 2", _COLUMNS, rows, notes, {"paths": details})
        return finish(found_table, options)


def _single_paths(found: Sequence[Nearest], least: int, query: str) -> Found:
    """Return the paths of one query, the most distinctive first; paths without any to compare with come last."""
    strong = [near for near in found if near.member.strength >= least]
    strong.sort(key=lambda near: -1.0 if near.distance is None else near.distance, reverse=True)
    rows = [(*_path(near.member), _path_text(near.path), near.distance, near.models) for near in strong]
    data = {"paths": [near.plain() for near in strong]}
    return Found("create-distinctiveness", f"CREATE, Table 7: {query}", _PATHS, rows, (), data)


def _path(of: Member) -> Sequence[Any]:
    return (of.model, of.task, _path_text(of.path), of.strength)


def _path_text(path: Path | None) -> str | None:
    return None if path is None else ", ".join(f"({', '.join(triple)})" for triple in path)


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

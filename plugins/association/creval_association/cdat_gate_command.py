"""`creval analyse cdat-gate RUN...`: reads runs of CDAT and applies the gate."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from creval import Run, RunOptions
from creval.plugin import AnalysisOutput, DataError, Embedding, FieldSpec, RunError, WordList, open_runs
from creval_analyses.workbench import Workbench
from creval_association.cdat_gate import GateResult, gated_scores, judge, random_appropriateness
from creval_association.lookup import Lookup

__all__ = ["CdatGate"]

_COLUMNS = (
    "model",
    "condition",
    "cues",
    "appropriateness",
    "random nouns",
    "t",
    "p",
    "p adjusted",
    "passed",
    "CDAT-N",
)
_FREQUENT = 3_000
Values = dict[str, dict[str, list[tuple[str, float, float]]]]  # condition -> model -> (cue, appropriateness, novelty)


class CdatGate:
    """Kind `analysis`: which models' answers to CDAT are more appropriate than random nouns, and their CDAT score."""

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse cdat-gate`."""
        return (
            FieldSpec("task", "string", "cdat", "Name of the task in the runs."),
            FieldSpec("alpha", "number", 0.001, "Level of the false-discovery rate."),
            FieldSpec("draws", "integer", 100, "Lists of random nouns for each cue.", minimum=1),
            FieldSpec("words", "integer", 7, "Nouns per list.", minimum=1),
            FieldSpec("pool", "integer", 300, "Nouns to draw from.", minimum=1),
            FieldSpec("seed", "integer", 42, "Seed of the pool and the draws.", minimum=0),
            FieldSpec("embedding", "string", None, "Embedding of the random nouns; default: that of the runs."),
            FieldSpec("offline", "boolean", False, "Do not use the network."),
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Read the runs, draw the baseline, judge every condition."""
        chosen: dict[str, Any] = {spec.name: spec.default for spec in self.options()}
        chosen.update({name: value for name, value in options.items() if value is not None})
        opened = open_runs(runs)
        values = read_runs(opened, str(chosen["task"]))
        cues = sorted({cue for models in values.values() for rows in models.values() for cue, _, _ in rows})
        baseline, embedding_name, pool_name = _baseline(cues, opened[0], chosen)
        results = [
            result
            for condition, models in sorted(values.items())
            for result in judge(
                {model: _by_cue(rows) for model, rows in models.items()}, baseline, condition, float(chosen["alpha"])
            )
        ]
        return _output(results, float(np.mean(baseline)), embedding_name, pool_name, chosen)


def read_runs(runs: Sequence[Run], task: str) -> Values:
    """Return the scored samples of `task` in all runs.

    Raises RunError if a run does not contain the task or its scores, DataError if the runs used different embeddings or
    two runs have the same model.
    """
    values: Values = {}
    specs: dict[str, str] = {}
    for run in runs:
        where = str(run.folder)
        if task not in run.tasks:
            have = ", ".join(run.tasks)
            raise RunError(
                f"has no scores of {task!r}, but of {have}", where=where, fix="Name a run of CDAT, or --task."
            )
        specs[where] = str(run.result(task)["instruments"]["embedding"])
        if any(run.model in models for models in values.values()):
            raise DataError(f"two runs are of the model {run.model!r}", where=where, fix="Name one run per model.")
        for score in run.scores(task, status="scored"):
            row = (score.key.doc, score.details["gate_appropriateness"], score.scores["cdat_n"])
            values.setdefault(score.key.condition, {}).setdefault(run.model, []).append(row)
    if len(set(specs.values())) > 1:
        made = "; ".join(f"{run} with {spec}" for run, spec in specs.items())
        fix = "Score them the same way: creval score RUN --resource embedding=NAME"
        raise DataError(f"the runs were scored with different embeddings: {made}", fix=fix)
    if not values:
        raise RunError("the runs contain no scored sample", where=", ".join(specs))
    return values


def _by_cue(rows: Sequence[tuple[str, float, float]]) -> tuple[list[float], list[float]]:
    """Return appropriateness and novelty per cue, averaged over repeats."""
    cues: dict[str, list[tuple[float, float]]] = {}
    for cue, appropriateness, novelty in rows:
        cues.setdefault(cue, []).append((appropriateness, novelty))
    means = [np.mean(values, axis=0) for values in cues.values()]
    return [float(mean[0]) for mean in means], [float(mean[1]) for mean in means]


def _baseline(cues: Sequence[str], run: Run, chosen: Mapping[str, Any]) -> tuple[np.ndarray, str, str]:
    """Return the appropriateness of random nouns, and the full names of the embedding and the pool."""
    with Workbench(RunOptions(offline=bool(chosen["offline"]))) as bench:
        asked = chosen["embedding"]
        embedding = bench.resource("embedding", asked) if asked else bench.resource_of(run, chosen["task"], "embedding")
        nouns = bench.resource("wordlist", "nouns/oewn")
        return _drawn(cues, embedding, nouns, chosen), str(embedding.name), nouns.name


def _drawn(cues: Sequence[str], embedding: Embedding, nouns: WordList, chosen: Mapping[str, Any]) -> np.ndarray:
    frequent = [word for word in nouns.words[:_FREQUENT] if embedding.has(word)]
    pool = random.Random(int(chosen["seed"])).sample(frequent, min(int(chosen["pool"]), len(frequent)))
    lookup = Lookup(embedding, [*pool, *cues], phrases="all")
    cosines = lookup.rows(list(cues)) @ lookup.rows(pool).T
    return random_appropriateness(cosines, int(chosen["draws"]), int(chosen["words"]), int(chosen["seed"]))


def _output(
    results: Sequence[GateResult], centre: float, embedding_name: str, pool: str, chosen: Mapping[str, Any]
) -> AnalysisOutput:
    rows: list[Sequence[Any]] = [
        (r.model, r.condition, r.cues, r.appropriateness, centre, r.t, r.p, r.p_adjusted, r.passed, r.novelty)
        for r in results
    ]
    scores = gated_scores(results)
    for model, score in scores.items():
        passed = [r for r in results if r.model == model and r.passed]
        rows.append((model, "CDAT", sum(r.cues for r in passed), None, None, None, None, None, bool(passed), score))
    notes = [
        f"Welch's test against {chosen['draws']} lists of {chosen['words']} random nouns for each cue, p adjusted by "
        f"Benjamini and Hochberg over the models within a condition, level {chosen['alpha']}.",
        "The row CDAT is the mean of CDAT-N over the conditions that a model passes; empty if it passes none.",
        f"Embedding {embedding_name}; {chosen['pool']} nouns out of the {_FREQUENT} most frequent of {pool}, "
        f"seed {chosen['seed']}.",
    ]
    if len(scores) == 1:
        notes.append("With one model nothing is corrected for: name the runs of all models that you compare.")
    return AnalysisOutput("CDAT appropriateness gate", _COLUMNS, rows, notes, data={"cdat": dict(scores)})

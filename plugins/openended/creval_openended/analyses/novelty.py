"""`creval analyse openended-novelty`: solutions ranked by a judge, against entropy and people (C.4, C.6, C.7, L)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec, Run, RunError, SampleKey, UsageError, open_runs
from creval.plugin.report import write_json
from creval_analyses.options import open_workbench, part_options
from creval_analyses.workbench import Workbench
from creval_openended.analyses.output import OPTIONS, finished
from creval_openended.novelty.human_ranks import read_ranks
from creval_openended.novelty.judge import BOOKMIA, MACGYVER, NoveltyJudge, Solution
from creval_openended.novelty.sorting import Method, most_comparisons, ranked
from creval_openended.stepwise.outcome import left_out

__all__ = ["Novelty"]

MEASURES = (
    "semantic_entropy",
    "semantic_entropy_min",
    "semantic_entropy_max",
    "semantic_entropy_count",
    "naive_entropy",
)
COLUMNS = ("task", "model", "against", "n", "spearman", "p", "kendall", "pearson", "comparisons")
_FEWEST = 3
_OPTIONS = (
    FieldSpec("count", "integer", 50, "How many solutions of a model are ranked."),
    FieldSpec("sort", "string", "bubble", "bubble (the paper's: 1,225 comparisons of 50), or merge (237)."),
    FieldSpec("both_orders", "boolean", False, "Ask each pair in both orders, and count the verdicts that differ."),
    FieldSpec(
        "definition", "string", None, "Definition of novelty; default: the paper's (macgyver) or ours (bookmia)."
    ),
    FieldSpec(
        "human", "file", None, "Ranks by people: rows with doc and rank, 1 = most novel; or a run of novelty_people."
    ),
    FieldSpec(
        "seed", "integer", 0, "Draws the solutions, their first order, and which of a pair is shown first.", minimum=0
    ),
)


class Ranking:
    """The ranking of one model's solutions of one task: their novelty (high = novel) and the judge's counts."""

    def __init__(self, run: Run, task: str, solutions: Sequence[Solution], scores: Mapping[SampleKey, Any]) -> None:
        self.run, self.task = run, task
        self.solutions, self.scores = solutions, scores
        self.order: list[SampleKey] = []
        self.judge: NoveltyJudge | None = None

    @property
    def novelty(self) -> dict[SampleKey, float]:
        """Return the novelty of each sample, from 1 for the least novel to n for the most."""
        return {key: float(len(self.order) - place) for place, key in enumerate(self.order)}


class Novelty:
    """Rank the solutions of each model and task, and correlate novelty with entropy and with human ranks."""

    example = "runs/mine --role judge=openai/gpt-4o --task macgyver"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options."""
        return (*OPTIONS, *_OPTIONS, *part_options(roles=True))

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Ask the judge and correlate."""
        method = _method(options)
        opened = open_runs(runs)
        bench = open_workbench(options, addressed="judge")
        bench.model("judge")
        found = [_solutions(run, task, options) for run in opened for task in _tasks(run, options.get("task"))]
        bench.keep_calls(opened[0], opened[1:])

        async def all_of_them() -> None:
            await asyncio.gather(*(_rank(each, bench, method, options) for each in found))

        bench.work(all_of_them)
        human = read_ranks(Path(options["human"])) if options.get("human") else {}
        rows = [row for each in found for row in _rows(each, human)]
        notes = [_note(each, method) for each in found]
        notes.append("Novelty counts upwards (n = most novel), so a positive sign says: more entropy, more novel.")
        output = finished("novelty", "Novelty and entropy", (COLUMNS, rows), notes, options)
        rankings = {"rankings": [_plain(each, method) for each in found]}
        files = list(output.files)
        if options.get("output"):
            files.append(str(write_json(Path(str(options["output"])) / "novelty-rankings.json", rankings)))
        return replace(output, files=files, data={**(output.data or {}), **rankings})


def _method(options: Mapping[str, Any]) -> Method:
    named = options.get("sort") or "bubble"
    methods: dict[str, Method] = {"bubble": "bubble", "merge": "merge"}
    if named not in methods:
        raise UsageError(f"there is no sorting method called {named!r}", where="--sort", fix="bubble or merge")
    return methods[named]


def _tasks(run: Run, task: str | None) -> Sequence[str]:
    return [task] if task else run.tasks


def _definition(task: str, options: Mapping[str, Any]) -> str:
    if options.get("definition"):
        return str(options["definition"])
    if task.startswith("macgyver"):
        return MACGYVER
    if task.startswith("bookmia"):
        return BOOKMIA
    raise UsageError(
        f"what is novel in {task} is not defined (for HypoGen the paper leaves it out, Appendix E)",
        where="openended-novelty",
        fix="Define it: --definition 'How far each answer ...', or choose another task: --task macgyver",
    )


def _solutions(run: Run, task: str, options: Mapping[str, Any]) -> Ranking:
    _definition(task, options)
    scored = [
        (sample, score)
        for sample, score in run.scored(task)
        if sample.answers and score.details.get("entropy_steps") and left_out(sample.outcome) is None
    ]
    count = int(options.get("count") or 50)
    if len(scored) < _FEWEST:
        raise RunError(f"{task!r} has {len(scored)} solutions to be ranked", where=str(run.folder))
    scored.sort(key=lambda pair: tuple(pair[0].key))
    drawn = random.Random(int(options.get("seed") or 0)).sample(scored, min(count, len(scored)))
    solutions = [Solution(sample.key, _question(sample.doc), sample.answers[0]) for sample, _ in drawn]
    return Ranking(run, task, solutions, {sample.key: score.scores for sample, score in drawn})


def _question(fields: Mapping[str, Any]) -> str:
    """Return the problem as the judge sees it: the field `problem`, or all texts by name."""
    if "problem" in fields:
        return str(fields["problem"])
    return " ".join(f"{name.capitalize()}: {value}" for name, value in fields.items() if name != "id")


async def _rank(ranking: Ranking, bench: Workbench, method: Method, options: Mapping[str, Any]) -> None:
    definition = _definition(ranking.task, options)
    ranking.judge = NoveltyJudge(bench, definition, int(options.get("seed") or 0), bool(options.get("both_orders")))
    ranking.order = [each.key for each in await ranked(ranking.solutions, ranking.judge.more_novel, method)]


def _rows(ranking: Ranking, human: Mapping[str, float]) -> list[tuple[Any, ...]]:
    novelty = ranking.novelty
    sides: dict[str, dict[SampleKey, float]] = {
        name: {key: scores[name] for key, scores in ranking.scores.items() if name in scores} for name in MEASURES
    }
    sides["people"] = {key: -human[key.doc] for key in ranking.order if key.doc in human}
    head = (ranking.task, ranking.run.model)
    asked = ranking.judge.counts.comparisons if ranking.judge else 0
    return [
        (*head, name, *_correlated([novelty[key] for key in side], list(side.values())), asked)
        for name, side in sides.items()
        if side
    ]


def _correlated(x: Sequence[float], y: Sequence[float]) -> tuple[int | float | None, ...]:
    """Return n, Spearman's rho with its p, Kendall's tau, Pearson's r; None if one side is constant or n < 3."""
    if len(x) < _FEWEST or len(set(x)) < 2 or len(set(y)) < 2:
        return len(x), None, None, None, None
    from scipy import stats

    spearman = stats.spearmanr(x, y)
    kendall, pearson = stats.kendalltau(x, y), stats.pearsonr(x, y)
    return len(x), float(spearman.statistic), float(spearman.pvalue), float(kendall.statistic), float(pearson.statistic)


def _note(ranking: Ranking, method: Method) -> str:
    assert ranking.judge is not None
    counts = ranking.judge.counts
    most = most_comparisons(len(ranking.order), method)
    text = (
        f"{ranking.task}, {ranking.run.model}: {len(ranking.order)} solutions by {method} sort, {counts.comparisons} "
        f"of at most {most} comparisons, {counts.contradicted(ranking.order)} against the final order; the one shown "
        f"first won {counts.first} of {counts.asked} verdicts"
    )
    turned = f"; {counts.turned} of {counts.both} pairs turned round with the order" if counts.both else ""
    return text + turned + "."


def _plain(ranking: Ranking, method: Method) -> dict[str, Any]:
    assert ranking.judge is not None
    counts = ranking.judge.counts
    return {
        "task": ranking.task,
        "model": ranking.run.model,
        "sort": method,
        "comparisons": counts.comparisons,
        "contradicted": counts.contradicted(ranking.order),
        "first_shown_won": counts.first,
        "verdicts": counts.asked,
        "both_orders": counts.both,
        "turned_round": counts.turned,
        "novelty": [
            {"doc": key.doc, "condition": key.condition, "repeat": key.repeat, "novelty": value}
            for key, value in ranking.novelty.items()
        ],
    }

"""`creval analyse judge-agreement`: agreement of the judge with people, and with itself."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec, Run, SampleKey, UnknownNameError, UsageError, open_runs
from creval.plugin.agreement import (
    Claims,
    RunFolder,
    RunOptions,
    load_plugins,
    make_scoring,
    open_plans,
    read_options,
    tasks_here,
    with_doc,
    with_media,
    write_labelled,
)
from creval_agreement.classes import by_class
from creval_agreement.judged_parts import judged_parts
from creval_agreement.labels import SAMPLE_COLUMNS, Rated, columns_of, match_parts, match_samples, read_labels
from creval_agreement.two_raters import agreement
from creval_analyses.workbench import Workbench

__all__ = ["JudgeAgreement"]

_COLUMNS = (
    *("run", "task", "score", "of", "between", "n", "accuracy", "balanced accuracy", "kappa", "pearson", "spearman"),
    *("precision", "recall", "F1"),
)
_NO_CLASS = (None, None, None)
_CLASSES = 10
"""Most distinct whole numbers for which ratings are compared class by class."""
_PAIRS = 15
"""Most pairs of annotators that are compared."""
_NOISE = ("run", "task", "score", "n", "verdicts", "mean SD in a sample", "samples with equal verdicts")
_APART = 1_000  # distance between the draws of two repetitions, so that they do not overlap


class JudgeAgreement:
    """Agreement with people's labels from a file, or of the judge with itself (`--repeat-judge N`)."""

    example = "runs/mine --score originality --labels labels.csv"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options in addition to the runs."""
        return (
            FieldSpec("score", "string", None, "The score that the judge gave."),
            FieldSpec("task", "string", None, "Task, if the runs have several."),
            FieldSpec("labels", "path", None, "People's ratings: CSV or JSONL, docs/judges.md."),
            FieldSpec("repeat_judge", "integer", 0, "Verdicts per answer, to compare the judge with itself."),
            FieldSpec("role", "string", (), "ROLE=M: another judge for --repeat-judge.", True),
            FieldSpec("max_cost", "number", None, "Stop when this many US dollars are spent."),
            FieldSpec("max_calls", "integer", None, "Stop after this many requests."),
            FieldSpec("concurrency", "integer", 64, "Maximum concurrent requests."),
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Compare the ratings. Raises UsageError, DataError, RunError."""
        score, times = options.get("score"), int(options.get("repeat_judge") or 0)
        if not score or bool(options.get("labels")) == bool(times):
            raise UsageError(
                "the analysis needs a score, and either people's labels or a number of repetitions",
                where="judge-agreement",
                fix="Add --score NAME, and --labels FILE or --repeat-judge 3.",
            )
        if times == 1 or times < 0:
            raise UsageError("a judge is compared with itself over 2 verdicts or more", where="--repeat-judge")
        opened = open_runs(runs)
        if times:
            rows = [self._noise(run, name, score, options) for run in opened for name in _tasks(run, options)]
            return AnalysisOutput("The judge's own noise", _NOISE, rows)
        file = Path(str(options["labels"]))
        found = [_agreement(run, name, score, file) for run in opened for name in _tasks(run, options)]
        rows = [row for own, _ in found for row in own]
        return AnalysisOutput("The judge and people", _COLUMNS, rows, [note for _, notes in found for note in notes])

    def _noise(self, run: Run, name: str, score: str, options: Mapping[str, Any]) -> Sequence[Any]:
        """Ask the run's judge again, and return the spread of its verdicts on one answer."""
        times = int(options["repeat_judge"])
        given = dict(str(each).split("=", 1) for each in options.get("role") or () if "=" in str(each))
        own = {role: spec for role, spec in run.manifest["roles"].items() if role != "target"}
        asked = RunOptions(
            roles={**own, **given},
            concurrency=int(options.get("concurrency") or 64),
            max_cost=options.get("max_cost"),
            max_calls=options.get("max_calls"),
        )
        bench = Workbench(asked)
        bench.keep_calls(run)
        plugins = load_plugins()
        claims = Claims.of_run(run.manifest, run.folder)
        claims.check(run.score_command, ("base_url", "executor", "executor_options", "reuse"))  # none of them is used
        requested = tasks_here(RunFolder.open(run.folder), run.manifest["requested"], claims.trusted)
        plans = open_plans(requested, read_options(run.manifest["options"]), plugins)
        plan = next(plan for plan in plans if plan.task.name == name)
        stored = RunFolder(run.folder).read_samples(name)
        samples = [with_media(with_doc(sample, plan.dataset), plan.dataset) for sample in stored]
        first = {each.key: each.scores[score] for each in run.scores(name) if score in each.scores}
        wanted = [sample for sample in samples if sample.key in first]

        async def again() -> list[list[float]]:
            contexts = [bench.context_of(plan.task, first_draw=number * _APART) for number in range(1, times)]
            scorings = [make_scoring(plan.task, plugins.registry, context) for context in contexts]
            redrawn = await asyncio.gather(*(scoring.score([sample]) for sample in wanted for scoring in scorings))
            found: defaultdict[SampleKey, list[float]] = defaultdict(list)
            for (each,) in redrawn:
                if score in each.scores:
                    found[each.key].append(each.scores[score])
            return [[first[key], *others] for key, others in found.items() if len(others) == times - 1]

        verdicts = bench.work(again)
        spread = fmean(map(stdev, verdicts)) if verdicts else None
        equal = fmean(float(len(set(each)) == 1) for each in verdicts) if verdicts else None
        return (run.folder.name, name, score, len(verdicts), times, spread, equal)


def _tasks(run: Run, options: Mapping[str, Any]) -> Sequence[str]:
    task = options.get("task")
    if task is None:
        return run.tasks
    if task not in run.tasks:
        raise UnknownNameError("task", str(task), run.tasks, where=str(run.folder))
    return [str(task)]


def _agreement(run: Run, name: str, score: str, file: Path) -> tuple[list[Sequence[Any]], list[str]]:
    """Compare people's labels with the ratings of a task's judge: return rows, and notes for the reader."""
    by_part = any(column not in SAMPLE_COLUMNS for column in columns_of(file))
    judged = list(judged_parts(run, name)) if by_part else []
    labels = read_labels(file, list(dict.fromkeys(column for _, part in judged for column in part.names)))
    if labels.parts:
        of_unit = [(key, part) for key, part in judged if part.unit == labels.unit]
        number = sum(score in part.ratings for _, part in of_unit)
        if not number:
            known = sorted({each for _, part in of_unit for each in part.ratings})
            raise UnknownNameError(f"rating of a {labels.unit}", score, known, where=f"{run.folder}, task {name}")
        both = match_parts(labels, of_unit, score)
    else:
        both = match_samples(labels, scores := _scores(run, name, score))
        number = len(scores)
    notes = []
    if len(both) < number:
        notes.append(f"{run.folder.name}, {name}: {number - len(both)} judged {labels.unit}s have no label.")
    if sum(len(each.people) for each in both) < sum(map(len, labels.values.values())):
        notes.append(f"{run.folder.name}, {name}: some labels belong to no {labels.unit} with {score!r}.")
    head = (run.folder.name, name, score, labels.unit)
    rows = list(_rows(both))
    if not labels.parts:
        _, n, _, _, kappa, _, spearman, *_ = rows[0]
        judged_by = dict(run.result(name)["instruments"])
        write_labelled(
            run.folder, name, score, {"n": n, "kappa": kappa, "spearman": spearman, "instruments": judged_by}
        )
    return [(*head, *row) for row in rows], notes


def _scores(run: Run, name: str, score: str) -> dict[SampleKey, float]:
    scores = {each.key: each.scores[score] for each in run.scores(name) if score in each.scores}
    if not scores:
        known = sorted({each for line in run.scores(name) for each in line.scores})
        raise UnknownNameError("score", score, known, where=f"{run.folder}, task {name}")
    return scores


def _rows(both: Sequence[Rated]) -> Iterator[Sequence[Any]]:
    """Yield the agreement of people and judge, per class if ratings are classes, and per pair of annotators."""
    people, judge = [each.label for each in both], [each.judge for each in both]
    yield ("people and judge", *agreement(people, judge), *_NO_CLASS)
    if both and len({*people, *judge}) <= _CLASSES and all(float(each).is_integer() for each in (*people, *judge)):
        for each in by_class(people, judge):
            yield (f"class {each.rating:g}", each.n, *[None] * 5, each.precision, each.recall, each.f1)
    annotators = sorted({name for each in both for name, _ in each.people if name})
    for first, second in islice(combinations(annotators, 2), _PAIRS):
        said = [dict(each.people) for each in both]
        shared = [each for each in said if first in each and second in each]
        found = agreement([each[first] for each in shared], [each[second] for each in shared])
        yield (f"{first} and {second}", *found, *_NO_CLASS)

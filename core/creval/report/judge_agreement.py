"""`creval analyse judge-agreement`: does the judge say what people say, and does it say the same twice?"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

from creval.data.row_types import MalformedRow
from creval.data.table_files import open_file
from creval.engine.manifest import read_options
from creval.engine.run_options import RunOptions
from creval.engine.scoring.task_scoring import make_scoring
from creval.engine.setup import open_plans
from creval.engine.workbench import Workbench
from creval.errors import DataError, UnknownNameError, UsageError
from creval.plugins.loader import load_plugins
from creval.report.output_files import unguarded
from creval.runs.folder import RunFolder
from creval.runs.reader import Run, open_runs
from creval.runs.task_copies import tasks_here
from creval.runs.text_references import with_doc
from creval.runs.trust import Claims
from creval.scoring.agreement import agreement
from creval.types.components import AnalysisOutput, FieldSpec
from creval.types.sample import SampleKey

__all__ = ["JudgeAgreement"]

_COLUMNS = ("run", "task", "score", "n", "accuracy", "balanced accuracy", "kappa", "pearson", "spearman")
_NOISE = ("run", "task", "score", "n", "verdicts", "mean SD in a sample", "samples with equal verdicts")
_KEYS = ("doc", "condition", "repeat")
_OTHERS = ("label", "annotator")
_APART = 1_000  # between the draws of one repetition and the next, so that none takes those of another


class _Labels(NamedTuple):
    """People's ratings by the columns that the file has."""

    columns: Sequence[str]
    values: Mapping[tuple[str, ...], float]

    def of(self, key: SampleKey) -> float | None:
        found = {"doc": key.doc, "condition": key.condition, "repeat": str(key.repeat)}
        return self.values.get(tuple(found[name] for name in self.columns))


class JudgeAgreement:
    """Agreement with people's labels from a file, or of the judge with itself (`--repeat-judge N`)."""

    example = "runs/mine --score originality --labels labels.csv"

    def options(self) -> Sequence[FieldSpec]:
        """The options beside the runs."""
        return (
            FieldSpec("score", "string", None, "The score that the judge gave."),
            FieldSpec("task", "string", None, "The task, where the runs have several."),
            FieldSpec("labels", "path", None, "People's ratings: CSV or JSONL with doc (condition, repeat) and label."),
            FieldSpec("repeat_judge", "integer", 0, "Ask the judge so often in all, and compare it with itself."),
            FieldSpec("role", "string", (), "ROLE=M: another judge for --repeat-judge.", True),
            FieldSpec("max_cost", "number", None, "Stop when this many US dollars are spent."),
            FieldSpec("max_calls", "integer", None, "Stop after this many requests."),
            FieldSpec("concurrency", "integer", 64, "Maximum concurrent requests."),
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Compare. Raises UsageError, DataError, RunError."""
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
        labels = _read_labels(Path(str(options["labels"])))
        notes: list[str] = []
        rows = [_agreement(run, name, score, labels, notes) for run in opened for name in _tasks(run, options)]
        return AnalysisOutput("The judge beside people", _COLUMNS, rows, notes)

    def _noise(self, run: Run, name: str, score: str, options: Mapping[str, Any]) -> Sequence[Any]:
        """Ask the run's judge again, and return how far its verdicts on one answer lie apart."""
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
        samples = [with_doc(sample, plan.dataset) for sample in RunFolder(run.folder).read_samples(name)]
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


def _agreement(run: Run, name: str, score: str, labels: _Labels, notes: list[str]) -> Sequence[Any]:
    scores = {each.key: each.scores[score] for each in run.scores(name) if score in each.scores}
    if not scores:
        known = sorted({each for line in run.scores(name) for each in line.scores})
        raise UnknownNameError("score", score, known, where=f"{run.folder}, task {name}")
    both = [(label, given) for key, given in sorted(scores.items()) if (label := labels.of(key)) is not None]
    if len(both) < len(scores):
        notes.append(f"{run.folder.name}, {name}: {len(scores) - len(both)} judged samples have no label.")
    found = agreement([label for label, _ in both], [given for _, given in both])
    return (run.folder.name, name, score, *found)


def _label(given: Any) -> float:
    """Return a label as a number. Raises ValueError for what is none: true, NaN, `1_0`."""
    number = float(given)
    if isinstance(given, bool) or not math.isfinite(number) or "_" in str(given):
        raise ValueError(f"{given!r} is no number")
    return number


def _read_labels(path: Path) -> _Labels:
    """Read people's ratings; several of one thing count as their mean. Raises DataError."""
    rows = open_file(path)
    found: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
    columns: Sequence[str] | None = None
    for index, row in enumerate(rows):
        fields = {} if isinstance(row, MalformedRow) else dict(row.fields if hasattr(row, "fields") else row)
        foreign = [str(name) for name in fields if name not in (*_KEYS, *_OTHERS)]
        if foreign:
            raise DataError(
                f"the column {foreign[0]!r} is unknown, and labels of different things would be averaged",
                where=rows.where(index),
                fix=f"Its columns are {', '.join((*_KEYS, *_OTHERS))}: one label for the whole of a sample.",
            )
        columns = columns or [name for name in _KEYS if name in fields]
        try:
            key = tuple(unguarded(str(fields[name])) for name in columns)
            found[key].append(_label(fields["label"]))
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"the row is no label ({type(error).__name__}: {error})",
                where=rows.where(index),
                fix="Each row has doc (perhaps condition, repeat) and label, a number on the judge's scale.",
            ) from None
    if not columns or "doc" not in columns:
        raise DataError("there are no labels by doc", where=str(path), fix="Name the columns doc and label.")
    return _Labels(columns, {key: fmean(values) for key, values in found.items()})

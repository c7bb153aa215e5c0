"""The same tasks by lm-eval and by creval on one server, and where their numbers differ."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.lmeval_evaluate import evaluate
from support.lmeval_server import GeneratingServer

from creval import RunOptions, open_run, run
from creval_lmeval import aggregation
from creval_lmeval.group_numbers import group_numbers
from creval_lmeval.roots import known

__all__ = [
    "Both",
    "by_command",
    "differences",
    "group_differences",
    "ours",
    "read_results",
    "run_both",
]

LONGEST = 100_000


@dataclass(frozen=True)
class Both:
    """What both tools found: lm-eval's results, and creval's run folder."""

    theirs: Mapping[str, Any]
    folder: Path


def _manager() -> Any:
    """Return lm-eval's manager of tasks over an index that is made already: its own takes seconds to make."""
    from lm_eval.tasks import TaskManager
    from lm_eval.tasks._index import Entry, Kind

    made = TaskManager(include_defaults=False)
    kinds = {"task": Kind.TASK, "group": Kind.GROUP, "tag": Kind.TAG}
    for each in known().values():
        file = Path(each.file) if each.file else None
        made._index[each.name] = Entry(each.name, kinds[each.kind], file, tags=set(each.members))
    return made


def run_both(tasks: Sequence[str], server: GeneratingServer, folder: Path, chat: bool = False, **settings: Any) -> Both:
    """Run tasks by both. `settings` are options of lm-eval's command, which are creval's conditions."""
    theirs = _by_library(tasks, server, chat, **settings)
    return Both(theirs, ours(tasks, server, folder, chat, **settings))


def _by_library(tasks: Sequence[str], server: GeneratingServer, chat: bool, **settings: Any) -> Mapping[str, Any]:
    """Return lm-eval's results of tasks, in this process."""
    from lm_eval.models.openai_completions import LocalChatCompletion, LocalCompletionsAPI

    if chat:
        model = LocalChatCompletion(f"{server.url}/chat/completions", model="mock")
    else:
        longest = server.longest or LONGEST
        model = LocalCompletionsAPI(f"{server.url}/completions", "remote", model="mock", max_length=longest)
    server.restart()
    found: Mapping[str, Any] = evaluate(
        model,
        tasks=list(tasks),
        bootstrap_iters=aggregation.ITERATIONS,
        log_samples=True,
        apply_chat_template=chat,
        task_manager=_manager(),
        **settings,
    )
    return found


def by_command(tasks: Sequence[str], server: GeneratingServer, folder: Path, chat: bool) -> Mapping[str, Any]:
    """Return lm-eval's results of tasks by its own command, as it wrote them into files."""
    given = f"model=mock,base_url={server.url}"
    how = ["--model", "local-completions", "--model_args"]
    how.append(f"{given}/completions,tokenizer_backend=remote,max_length={LONGEST}")
    if chat:
        how = ["--model", "local-chat-completions", "--model_args", f"{given}/chat/completions"]
        how.append("--apply_chat_template")
    words = ["run", *how, "--tasks", ",".join(tasks), "--output_path", str(folder), "--log_samples"]
    server.restart()
    subprocess.run([sys.executable, "-m", "lm_eval", *words], check=True)
    return read_results(folder)


def read_results(folder: Path) -> Mapping[str, Any]:
    """Return what lm-eval's command wrote, in the form of its library's results."""
    (file,) = folder.rglob("results_*.json")
    samples = {}
    for each in folder.rglob("samples_*.jsonl"):
        task = each.name.removeprefix("samples_").rpartition("_")[0]
        samples[task] = [json.loads(line) for line in each.read_text(encoding="utf-8").splitlines()]
    return {"results": json.loads(file.read_text(encoding="utf-8"))["results"], "samples": samples}


def ours(tasks: Sequence[str], server: GeneratingServer, folder: Path, chat: bool, **settings: Any) -> Path:
    """Return the folder of creval's run of tasks."""
    server.restart()
    conditions = {name: [value] for name, value in settings.items()} | ({"apply_chat_template": [True]} if chat else {})
    options = RunOptions(base_url=server.url, output=folder, concurrency=1, conditions=conditions)
    return run([f"lmeval/{task}" for task in tasks], "chat/mock", options).folder


def differences(both: Both, task: str) -> tuple[float, float, int]:
    """Return the largest difference between aggregates and between documents' values, and how many were compared."""
    result = open_run(both.folder)
    ours = {each["name"]: each["value"] for each in result.result(task)["metrics"] if each["condition"] is None}
    theirs = {name: value for name, value in both.theirs["results"][task].items() if "," in name and value != "N/A"}
    assert theirs.keys() - ours.keys() == set(), f"lm-eval has more metrics: {theirs.keys() - ours.keys()}"
    worst = max(_difference(ours[name], value) for name, value in theirs.items())
    rows = {(each["doc_id"], each["filter"]): each for each in both.theirs["samples"][task]}
    scores = {int(score.key.doc): score.details["values"] for score in result.scores(task) if score.details}
    found = []
    for (doc, pipeline), row in rows.items():
        for metric in row["metrics"]:
            found.append(_difference(scores[doc][f"{metric},{pipeline}"], row[metric]))
    return worst, max(found), len(theirs) + len(found)


def group_differences(both: Both, group: str) -> float:
    """Return the largest difference between a group's numbers: value and error of the command, value of the results."""
    run = open_run(both.folder)
    theirs = both.theirs["results"][group]
    found = {each.metric: each for each in group_numbers(run) if each.group == group}
    (suite,) = [each for each in run.results["suites"] if each["task"] == group]
    stored = {each["name"]: each["value"] for each in suite["metrics"]}
    worst = 0.0
    for name, value in theirs.items():
        metric, _, pipeline = name.partition(",")
        if pipeline and not metric.endswith("_stderr"):
            error = theirs[f"{metric}_stderr,{pipeline}"]
            pairs = ((found[name].value, value), (stored[name], value), (found[name].stderr, error))
            worst = max(worst, *(_difference(*pair) for pair in pairs))
    return worst


def _difference(one: Any, other: Any) -> float:
    """Return how far two values are apart, through lists; 1 where they are of different kinds."""
    if isinstance(other, list | tuple) or hasattr(other, "tolist"):
        other = other.tolist() if hasattr(other, "tolist") else list(other)
        if not isinstance(other, list):
            return _difference(one, other)
        if not isinstance(one, list) or len(one) != len(other):
            return 1.0
        return max((_difference(*pair) for pair in zip(one, other, strict=True)), default=0.0)
    if isinstance(other, Mapping):
        if not isinstance(one, Mapping) or one.keys() != other.keys():
            return 1.0
        return max((_difference(one[name], other[name]) for name in other), default=0.0)
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(float(one) - float(other))
    return 0.0 if one == other else 1.0

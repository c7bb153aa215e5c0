"""`.eval_results/*.yaml`: a run's primary metrics as evaluation results in the model's own repository.

The Hub's library checks neither the type of a value nor unknown keys, so this module enforces the rules: a finite
number, a closed set of keys, a date by ISO 8601, the dataset as owner/name. The Hub shows one number per benchmark and
sorts it from high to low, so lower-is-better metrics are never sent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from creval.plugin import DataError, Run, UsageError, counted
from creval_hub.access import check_repository, hub_errors, open_hub
from creval_hub.exports.cleaning import cleaned

__all__ = ["ModelResult", "check_entry", "model_results", "propose_results", "result_file"]

_ENTRY = {"dataset", "value", "date", "source", "notes"}
_DATASET = {"id", "task_id", "revision"}
_SOURCE = {"url", "name", "user", "org"}
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})?)?")
_NOT_MODELS = ("baseline", "human", "replay")


@dataclass(frozen=True, slots=True)
class ModelResult:
    """One entry: its task and its content."""

    task: str
    entry: Mapping[str, Any]


def model_results(run: Run, dataset: str, source: str | None = None) -> list[ModelResult]:
    """Return an entry for each task's primary metric and condition that the Hub can show correctly.

    `dataset` is the benchmark's repository, `source` the address of the run's own data. Raises UsageError if the run
    has no model, or no metric can be shown.
    """
    check_repository(dataset)
    if run.model.split("/", 1)[0] in _NOT_MODELS:
        raise UsageError(f"{run.model} is not a model", where=str(run.folder), fix="Name a run of a model.")
    found, reasons = [], []
    for result in run.results["tasks"]:
        for metric in result["metrics"]:
            if not metric.get("primary"):
                continue
            reason = _unfit(result, metric)
            if reason:
                reasons.append(f"{metric['name']} of {result['task']}: {reason}")
                continue
            entry = _entry(run, result, metric, dataset, source)
            check_entry(entry)
            found.append(ModelResult(str(result["task"]), entry))
    if not found:
        said = "; ".join(reasons) or "it has no primary metric"
        raise UsageError(f"no result of the run can be shown with a model: {said}", where=str(run.folder))
    return found


def _unfit(result: Mapping[str, Any], metric: Mapping[str, Any]) -> str:
    value = metric.get("value")
    if metric.get("higher_is_better") is not True:
        return "the Hub sorts from high to low, and higher is not better here"
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return "it has no value"
    if result.get("shard"):
        return f"it is shard {result['shard']}, a part of the docs; merge the shards first"
    if result.get("replaced_data") or result.get("changed"):
        return "made with other data or parameters than the benchmark's"
    return ""


def _entry(
    run: Run, result: Mapping[str, Any], metric: Mapping[str, Any], dataset: str, source: str | None
) -> dict[str, Any]:
    notes = [f"condition {metric['condition']}"] if metric.get("condition") else []
    notes.append(f"{result['repeats']} a doc, {counted(result['docs'], 'docs')}")
    if metric.get("ci_low") is not None:
        low, high = float(metric["ci_low"]), float(metric["ci_high"])
        notes.append(f"{float(metric['confidence']):.0%} interval {low:.4g} to {high:.4g}")
    resources = cleaned(dict(result.get("instruments", {})))
    notes += [f"{name} {value}" for name, value in sorted(resources.items())]
    counts = {name: n for name, n in metric.get("counts", {}).items() if n and name != "scored"}
    notes += [f"{n} {name}" for name, n in counts.items()]
    entry: dict[str, Any] = {
        "dataset": {"id": dataset, "task_id": str(result["task"])},
        "value": metric["value"],
        "date": str(run.manifest.get("finished") or run.manifest["started"])[:10],
        "notes": f"creval {result['task']} {result['version']} ({result['hash'][:8]}): " + ", ".join(notes),
    }
    return {**entry, "source": {"url": source, "name": f"creval {run.results['creval']}"}} if source else entry


def check_entry(entry: Mapping[str, Any]) -> None:
    """Raise UsageError if an entry breaks a rule of the Hub, including those that its library does not check."""
    dataset, value, source = entry.get("dataset"), entry.get("value"), entry.get("source")
    if not isinstance(dataset, Mapping) or not {"id", "task_id"} <= dataset.keys() or dataset.keys() - _DATASET:
        raise UsageError("an entry's dataset has id, task_id and perhaps revision")
    check_repository(str(dataset["id"]))
    if not isinstance(dataset["task_id"], str) or not dataset["task_id"]:
        raise UsageError("an entry's task_id is a name")
    if entry.keys() - _ENTRY:
        raise UsageError(f"an entry has no {sorted(entry.keys() - _ENTRY)[0]!r}")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(f"an entry's value is a finite number, not {value!r}")
    if "date" in entry and not _is_date(entry["date"]):
        raise UsageError(f"an entry's date is a text by ISO 8601, not {entry['date']!r}")
    if source is not None and (not isinstance(source, Mapping) or "url" not in source or source.keys() - _SOURCE):
        raise UsageError("an entry's source has a url, and perhaps name, user and org")


def _is_date(value: object) -> bool:
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return False
    try:
        date.fromisoformat(value[:10])
    except ValueError:
        return False
    return True


def result_file(results: Sequence[ModelResult]) -> str:
    """Return the text of a file of entries."""
    return yaml.safe_dump([dict(one.entry) for one in results], sort_keys=False, allow_unicode=True, width=1000)


def propose_results(results: Sequence[ModelResult], model: str) -> str:
    """Open a pull request on a model's repository with one file per task, and return its address.

    The benchmark must exist on the Hub and list each task, and creval must have no open pull request for the same
    tasks. Raises UsageError, DataError, MissingPartError.
    """
    from huggingface_hub import CommitOperationAdd

    check_repository(model)
    api = open_hub()
    by_task: dict[str, list[ModelResult]] = {}
    for one in results:
        by_task.setdefault(one.task, []).append(one)
    title = f"creval: evaluation results of {', '.join(sorted(by_task))}"
    _check_benchmark(api, str(results[0].entry["dataset"]["id"]), sorted(by_task))
    with hub_errors(model):
        for discussion in api.get_repo_discussions(
            model, discussion_type="pull_request", discussion_status="open", repo_type="model"
        ):
            if discussion.title == title:
                raise UsageError("a pull request with these results is open", where=discussion.url)
        commit = api.create_commit(
            model,
            [
                CommitOperationAdd(f".eval_results/creval-{task}.yaml", result_file(mine).encode())
                for task, mine in sorted(by_task.items())
            ],
            commit_message=title,
            repo_type="model",
            create_pr=True,
        )
    return str(commit.pr_url)


def _check_benchmark(api: Any, dataset: str, tasks: Sequence[str]) -> None:
    """Raise DataError if the dataset is not a benchmark, or does not list a task."""
    from huggingface_hub.errors import EntryNotFoundError

    fix = "Name a dataset whose eval.yaml lists the task (--dataset)."
    with hub_errors(dataset):
        try:
            file = api.hf_hub_download(dataset, "eval.yaml", repo_type="dataset")
        except EntryNotFoundError as error:
            raise DataError("is not a benchmark: it has no eval.yaml", where=dataset, fix=fix) from error
    data = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    listed = data.get("tasks") if isinstance(data, dict) else None
    known = {str(one.get("id")) for one in listed or () if isinstance(one, dict)}
    for task in tasks:
        if task not in known:
            raise DataError(f"the benchmark has no task {task!r}", where=f"{dataset} eval.yaml", fix=fix)

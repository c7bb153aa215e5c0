"""A run as parquet: one table of its metrics, and one of samples per task. The same run gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.plugin import Sample, ScoreRecord, Status
from creval.plugin.hub import file_name
from creval_hub.exports.cleaning import cleaned, encodable_data
from creval_hub.exports.texts import refuse_texts

if TYPE_CHECKING:
    from creval.plugin import Run

__all__ = ["METRIC_COLUMNS", "SAMPLE_COLUMNS", "write_metrics", "write_parquet", "write_samples"]

METRIC_COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(("run", "model", "task", "version", "task_hash", "metric", "condition"), "string"),
    "value": "float64",
    "n": "int64",
    "clusters": "int64",
    "cluster": "string",
    **dict.fromkeys(("standard_error", "ci_low", "ci_high", "confidence"), "float64"),
    "method": "string",
    "no_interval": "string",
    "failed": "string",
    "n_failed": "int64",
    "higher_is_better": "bool",
    "primary": "bool",
    "unit": "string",
    **dict.fromkeys((status.value for status in Status), "int64"),
    "instruments": "string",
    "started": "string",
    "creval": "string",
}
"""The columns of the table of metrics: name and type."""

SAMPLE_COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(("run", "model", "task", "doc_id", "condition"), "string"),
    "repeat": "int64",
    "status": "string",
    "reason": "string",
    "answers": "list<string>",
    **dict.fromkeys(("value", "route", "doc", "messages"), "string"),
    "input_tokens": "int64",
    "output_tokens": "int64",
    "cost": "float64",
    "scores": "scores",
}
"""The columns of a table of samples; `value`, `doc` and `messages` are JSON, `scores` a list of name and value.

The same for every task and run, so that tables of several runs can be read as one.
"""

_NO_TEXTS: Mapping[str, Any] = {**dict.fromkeys(("reason", "value", "doc", "messages")), "answers": []}
_BATCH = 1000


def write_parquet(run: Run, name: str, folder: Path, *, texts: bool = True) -> list[Path]:
    """Write `results.parquet` and `samples/<task>.parquet` of a run into a folder, and return their paths.

    `name` is the run's name in the column `run`. Without `texts` the columns of answers, messages, docs, values
    and reasons are empty. Raises RunError, and with `texts` UsageError if a task stores its docs by reference.
    """
    if texts:
        refuse_texts(run)
    files = [write_metrics(run, name, folder / "results.parquet")]
    for task in run.tasks:
        files.append(write_samples(run, name, task, folder / "samples" / f"{file_name(task)}.parquet", texts=texts))
    return files


def write_metrics(run: Run, name: str, file: Path) -> Path:
    """Write the table of metrics: one row per metric and condition."""
    return _write(file, METRIC_COLUMNS, _metrics(run, name))


def write_samples(run: Run, name: str, task: str, file: Path, *, texts: bool = True) -> Path:
    """Write the table of a task's samples, one row per sample; without `texts` the columns of texts are empty."""
    rows = (_sample(run, name, one, score) for one, score in run.as_stored().scored(task))
    return _write(file, SAMPLE_COLUMNS, rows if texts else ({**row, **_NO_TEXTS} for row in rows))


def _metrics(run: Run, name: str) -> Iterator[dict[str, Any]]:
    results = run.results
    for task in results["tasks"]:
        head = {
            "run": name,
            "model": cleaned(results["model"]),
            "task": task["task"],
            "version": task["version"],
            "task_hash": task["hash"],
            "instruments": _json(cleaned(task.get("instruments", {}))),
            "started": run.manifest.get("started"),
            "creval": results.get("creval"),
        }
        for metric in task["metrics"]:
            row = {**head, **metric, **metric["counts"], "metric": metric["name"]}
            yield {column: row.get(column) for column in METRIC_COLUMNS}


def _sample(run: Run, name: str, sample: Sample, score: ScoreRecord) -> dict[str, Any]:
    calls = [call for call in sample.calls if call.role == "target"]
    replies = [reply for call in calls if (reply := call.reply) is not None]
    usage = [reply.usage for reply in replies]
    return {
        "run": name,
        "model": cleaned(run.model),
        "task": score.key.task,
        "doc_id": score.key.doc,
        "condition": score.key.condition,
        "repeat": score.key.repeat,
        "status": score.status.value,
        "reason": score.reason,
        "answers": list(sample.answers),
        "value": None if score.value is None else _json(score.value),
        "route": score.route,
        "doc": _json({"digest": sample.doc_digest} if sample.doc_digest else sample.doc),
        "messages": _json([message for call in calls for message in call.messages]),
        "input_tokens": sum(one.input_tokens for one in usage),
        "output_tokens": sum(one.output_tokens for one in usage),
        "cost": sum(reply.cost or 0.0 for reply in replies),
        "scores": [{"name": key, "value": value} for key, value in score.scores.items()],
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _write(file: Path, columns: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows batch by batch, so that memory does not depend on their number."""
    import pyarrow
    from pyarrow import parquet

    kinds = {
        "string": pyarrow.string(),
        "int64": pyarrow.int64(),
        "float64": pyarrow.float64(),
        "bool": pyarrow.bool_(),
        "list<string>": pyarrow.list_(pyarrow.string()),
        "scores": pyarrow.list_(pyarrow.struct([("name", pyarrow.string()), ("value", pyarrow.float64())])),
    }
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
    file.parent.mkdir(parents=True, exist_ok=True)
    with parquet.ParquetWriter(str(file), schema, compression="zstd") as writer:
        for batch in _batches(rows):
            table = pyarrow.Table.from_pylist([encodable_data(dict(row)) for row in batch], schema)
            writer.write_table(table)
    return file


def _batches(rows: Iterable[Mapping[str, Any]]) -> Iterator[Sequence[Mapping[str, Any]]]:
    left = iter(rows)
    while batch := list(islice(left, _BATCH)):
        yield batch

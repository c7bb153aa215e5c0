"""Check whether the texts of a run may leave this machine, and remove them from results and scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from creval.plugin import Run, ScoreRecord, UsageError
from creval.plugin.hub import score_data

__all__ = ["refuse_texts", "results_without_texts", "scores_without_texts"]


def refuse_texts(run: Run) -> None:
    """Raise UsageError if a task of the run may not store its docs: answers, verdicts and errors may quote them."""
    for entry in run.manifest["tasks"]:
        name = str(entry["task"])
        if entry.get("by_reference") or _has_references(run, name):
            raise UsageError(
                "the task keeps its docs by reference, and answers, verdicts and errors may quote them",
                where=f"{run.folder}, task {name}",
                fix="Nothing was written or sent. The scores alone: add --without-texts",
            )


def results_without_texts(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of results.json without the reasons of errors."""
    tasks = [
        {**task, "first_errors": [{**error, "reason": ""} for error in task.get("first_errors", ())]}
        for task in results["tasks"]
    ]
    return {**results, "tasks": tasks}


def scores_without_texts(run: Run, task: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of a task's scores as plain data, without parsed values, reasons and details."""
    for score in run.as_stored().scores(task):
        missing = {name: lack._replace(reason="") for name, lack in score.missing.items()}
        yield score_data(ScoreRecord(score.key, score.status, scores=score.scores, route=score.route, missing=missing))


def _has_references(run: Run, task: str) -> bool:
    first = next(run.as_stored().samples(task), None)
    return first is not None and first.doc_digest is not None

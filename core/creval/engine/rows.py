"""Whether the saved rows of a run are its own, before it is gone on with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from creval.engine.planning.plan import TaskPlan
from creval.errors import RunError
from creval.runs.codec import read_key
from creval.runs.folder import DoneKeys, RunFolder
from creval.runs.jsonl import numbered_lines

__all__ = ["check_rows"]


def check_rows(folder: RunFolder, plan: TaskPlan, on_sample: Callable[[Mapping[str, Any]], None]) -> None:
    """Look at the samples and scores of a task: every row is of a sample that was planned, and stands there once.

    `on_sample` is given each sample's row, so that nobody has to read the file for it once more.
    A torn last line, which a killed run leaves, is no fault. Raises RunError with file and line.
    """
    samples = folder.samples(plan.task.name)
    files = [file for file in (samples, folder.scores(plan.task.name)) if file.exists()]
    if not files:
        return
    chosen = range(len(plan.dataset)) if plan.indices is None else plan.indices
    docs = {plan.dataset[index].id for index in chosen}
    conditions = {condition.name for condition in plan.task.conditions}
    for file in files:
        seen = DoneKeys()
        for number, record in numbered_lines(file):
            try:
                if file == samples:
                    on_sample(record)
                key = read_key(record)
                planned = key.doc in docs and key.condition in conditions and 0 <= key.repeat < plan.repeats
            except (KeyError, TypeError, AttributeError) as error:
                raise _fault(f"the row is no {file.parent.name.removesuffix('s')}: {error!r}", file, number) from error
            named = f"the doc {key.doc!r} ({key.condition}, repeat {key.repeat})"
            if not planned or key.task != plan.task.name:
                raise _fault(f"{named} is not of this run", file, number)
            if key in seen:
                raise _fault(f"{named} stands there twice", file, number)
            seen.add(key)


def _fault(what: str, file: Path, line: int) -> RunError:
    run = file.parent.parent
    return RunError(what, where=f"{file}:{line}", cure=f"Remove the line, then: creval resume {run}")

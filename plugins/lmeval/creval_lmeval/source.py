"""The source `lmeval`: the documents of a task, with their targets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from creval.plugin import DataError
from creval.plugin.data import DataOptions, ListRows, Rows
from creval_lmeval.names import need_lm_eval
from creval_lmeval.plain import plain

__all__ = ["open_lmeval"]


def open_lmeval(task: str, lm_eval: str, *, base: Path, options: DataOptions, sources: str = "") -> Rows:
    """Return a row for each document: `doc`, reduced to plain data, and `target`. Raises DataError."""
    found = need_lm_eval()
    if found.version != lm_eval:
        raise DataError(
            f"the task was written with lm-eval {lm_eval}, and {found.version} is installed",
            where=f"lmeval/{task}",
            fix=f"pip install lm-eval=={lm_eval}, or start a new run, which takes the installed one.",
        )
    from creval_lmeval.library import load_task
    from creval_lmeval.offline import offline

    with offline(options.offline):
        loaded = load_task(task, sources)
    rows = [{"doc": plain(doc), "target": _target(loaded.task, doc)} for doc in loaded.docs]
    if not rows:
        raise DataError("the task has no documents", where=f"lmeval/{task}")
    return ListRows(rows, f"lm-eval {lm_eval} {task}")


def _target(task: Any, doc: Any) -> Any:
    """Return a document's target: a text, or the index of a choice; "" if the task has none."""
    try:
        found = task.doc_to_text(doc) if getattr(task, "multiple_input", 0) else task.doc_to_target(doc)
    except Exception:  # a task's own code; only the ceiling reads it
        return ""
    if isinstance(found, list | tuple) and found:
        found = found[0]
    choices = getattr(task.config, "doc_to_choice", None) is not None
    if isinstance(found, str) and choices:
        names = task.doc_to_choice(doc)
        found = names.index(found) if found in names else found
    if isinstance(found, int | np.integer) and choices and task.OUTPUT_TYPE == "generate_until":
        found = task.doc_to_choice(doc)[found]
    return str(found)

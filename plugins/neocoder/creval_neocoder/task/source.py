"""Source `neocoder_published`: the problems of one state, as the authors published them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from creval.plugin.data import DataOptions, ListRows, Rows, offline_fix
from creval_neocoder.own.own_problems import gold_answers, read_own
from creval_neocoder.problem import Case, Problem
from creval_neocoder.published.built import read_built
from creval_neocoder.published.published_files import COMMIT, PublishedFiles
from creval_neocoder.published.published_problems import WITHOUT_SOLUTIONS, read_problems
from creval_neocoder.task.docs import Text, state_doc

__all__ = ["open_built", "open_own", "open_published", "published_files", "soundness"]

_UNKNOWN = "unknown"
"""The class of cases on which no human solution was run: none of them is sound."""


def published_files(options: DataOptions) -> PublishedFiles:
    """Return the authors' files: in `neocoder` below CREVAL_DATA, else in the cache, fetched once."""
    copies = options.mirror / "neocoder" if options.mirror is not None else None
    cache = options.cache / "data" / f"neocoder-{COMMIT[:12]}"
    return PublishedFiles(cache, copies, offline=options.offline, fix=offline_fix(options))


def open_published(
    state: int,
    text: Text = "rebuilt",
    problems: Literal["with_solutions", "all"] = "with_solutions",
    *,
    base: Path,
    options: DataOptions,
) -> Rows:
    """Return the problems that have a state: 198, 198, 197, 193, 175 and 97 for states 0 to 5.

    `problems="all"` adds the one without human solutions, which two columns of the paper's Table 3 count.
    Raises DataError if the files are altered, cannot be fetched, or are absent offline.
    """
    classes = soundness()
    found = [
        problem
        for problem in _with_changed(read_problems(published_files(options)), "creval_neocoder.published")
        if state < len(problem.constraints) and (problems == "all" or problem.name != WITHOUT_SOLUTIONS)
    ]
    docs = [state_doc(each, state, text, classes.get(each.name, (_UNKNOWN,) * len(each.cases))) for each in found]
    return ListRows(docs, f"NeoCoder at commit {COMMIT[:12]}, state {state}")


def open_own(state: int, *, base: Path, options: DataOptions) -> Rows:
    """Return our own fifteen problems in a state, each with its gold answer."""
    gold = gold_answers()
    problems = _with_changed(read_own(), "creval_neocoder.own")
    docs = [{**state_doc(problem, state), "gold": gold[problem.name]} for problem in problems]
    return ListRows(docs, f"our own NeoCoder problems, state {state}")


def open_built(file: str, state: int, *, base: Path, options: DataOptions) -> Rows:
    """Return the problems of a file of `creval neocoder build` that have a state; its name is relative to the task's.

    All cases count as sound. A problem without techniques of human solutions has no divergent creativity.
    """
    docs = [state_doc(each, state) for each in read_built(base / file) if state < len(each.constraints)]
    return ListRows(docs, f"{file}, state {state}")


def soundness() -> Mapping[str, Sequence[str]]:
    """Return the class of each published case by problem, from `tools/classify_cases.py`."""
    return _by_problem("creval_neocoder.published", "cases.jsonl")


def _with_changed(problems: Iterable[Problem], package: str) -> list[Problem]:
    """Return the problems with their changed cases from `tools/change_inputs.py`."""
    changed = {
        name: tuple(Case(tuple(row["lines"]), row["output"]) for row in rows)
        for name, rows in _by_problem(package, "changed.jsonl").items()
    }
    return [replace(problem, changed=changed.get(problem.name, ())) for problem in problems]


def _by_problem(package: str, name: str) -> dict[str, Any]:
    """Return the contents of a file next to the problems that describes the cases of each."""
    text = files(package).joinpath(name).read_text(encoding="utf-8")
    return {row["problem"]: row["cases"] for row in map(json.loads, text.splitlines())}

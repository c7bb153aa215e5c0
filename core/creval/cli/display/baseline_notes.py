"""What is said where no floor or ceiling can stand beside a score: why, and the commands that make them."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from creval.api import RunResult
from creval.errors import RunError
from creval.report.baselines import Baselines
from creval.report.settings import setting_words
from creval.runs.commands import CONSENTS
from creval.runs.folder import RunFolder
from creval.visible import visible

__all__ = ["baseline_notes"]

_BOTH = ("floor", "ceiling")


def baseline_notes(results: Sequence[RunResult], found: Baselines, folder: Path, absent: bool = True) -> list[str]:
    """Return lines on the tasks whose baselines in `folder` are over other docs, and (`absent`) on those without any.

    A score stands beside a floor over the same docs alone: numbers over other docs do not compare. Runs that ask the
    same are told the same once. Runs that could not be read are named first.
    """
    notes: dict[tuple[str, ...], None] = {(fault,): None for fault in found.faults}
    folder = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    for result in results:
        bare = []
        for task in result.results["tasks"]:
            others = found.elsewhere(task)
            if others:
                is_, it_is = ("are", "they are") if len(others) > 1 else ("is", "it is")
                what = f"{' and '.join(others)} of {task['task']} {is_} over other docs or settings"
                head = f"In {folder} the {what}, so {it_is} not shown. Over the same docs and settings:"
                notes[head, *_commands(result, [task], others, folder)] = None
            elif not found.known(task):
                bare.append(task)
        if absent and bare:
            names = ", ".join(sorted({task["task"] for task in bare}))
            head = f"No floor or ceiling of {names} was found among the runs in {folder}. Where a task has them:"
            notes[head, *_commands(result, bare, _BOTH, folder)] = None
    return [visible(line) for note in notes for line in note]


def _commands(result: RunResult, tasks: Sequence[Mapping[str, Any]], which: Sequence[str], folder: Path) -> list[str]:
    """Return the commands that make baselines of `tasks` in `folder`, as far as the run tells what it asked."""
    try:
        manifest = RunFolder.open(result.folder).read_manifest()
    except RunError:  # results alone, without the rest of their run
        return [f"  make them with the options of the run and --model baseline/{each}" for each in which]
    words = ["creval", "--tasks", ",".join(_names(manifest, tasks)), *_options(manifest)]
    mark = hashlib.sha256(shlex.join(words).encode()).hexdigest()[:6]
    name = "+".join(task["task"] for task in tasks)[:60]
    return [
        f"  {shlex.join([*words, '--model', f'baseline/{each}', '--output', str(folder / f'{name}-{each}-{mark}')])}"
        for each in which
    ]


def _names(manifest: Mapping[str, Any], tasks: Sequence[Mapping[str, Any]]) -> Sequence[str]:
    """Name the tasks as the run did: a suite may override them, and by their own names they would be others."""
    requested: Sequence[str] = manifest["requested"]
    known = {name for task in manifest["tasks"] for name in (task["task"], task["qualified"])}
    wanted = {name for task in tasks for name in (task["task"], task["qualified"])}
    return [name for name in requested if name in wanted] if known.issuperset(requested) else requested


def _options(manifest: Mapping[str, Any]) -> list[str]:
    """Return the options on which docs, tries and instruments depend, as the user gave them."""
    given = {name: value for name, value in manifest["options"].items() if manifest["origins"][name] == "user"}
    words: list[str] = []
    for name in ("limit", "shard", "repeats", "seed"):
        if name in given:
            words += [f"--{name}", str(given[name])]
    for pair in setting_words(given.get("generation", {}), given.get("conditions", {})):
        words += pair
    for name, option in (("data", "--data"), ("resources", "--resource"), ("roles", "--role")):
        for key, value in given.get(name, {}).items():
            words += [option, f"{key}={value}"]
    for doc in given.get("docs", ()):
        words += ["--sample-id", doc]
    return words + [f"--{name.replace('_', '-')}" for name in ("offline", *CONSENTS) if name in given]

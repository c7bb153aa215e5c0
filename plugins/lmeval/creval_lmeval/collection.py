"""The collection `lmeval/*`: names from the index, task files written when a task is first used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from creval.plugin.collections import CollectedTask, cache_folder
from creval_lmeval.names import INSTALL, Named, installed, need_lm_eval
from creval_lmeval.roots import digest_for, known

__all__ = ["LmEvalTasks"]


class LmEvalTasks:
    """A `TaskCollection`. `NAME` is a task, group or tag of lm-eval, `GROUP::NAME` a task that a group changes."""

    @property
    def title(self) -> str:
        """What it is, and of which version."""
        found = installed()
        if found is None:
            return f"Tasks of lm-eval, which is not installed: {INSTALL}"
        return f"Tasks and groups of lm-eval {found.version}, unchanged (creval ls 'lmeval/*')"

    @property
    def folder(self) -> Path:
        """The cache of task files."""
        return cache_folder() / "lmeval"

    def tasks(self) -> Sequence[CollectedTask]:
        """Return all names."""
        return [CollectedTask(each.name, _about(each), "task" if each.kind == "task" else "suite") for each in _all()]

    def has(self, name: str) -> bool:
        """Whether there is a task, group or tag of this name. Raises MissingPartError without lm-eval."""
        need_lm_eval()
        return name.partition("::")[0] in known()

    def file(self, name: str) -> Path:
        """Return the file of a task or suite, written now where it is not there."""
        own = need_lm_eval()
        sources = digest_for(name)
        file = own.cache / (sources[:16] or "own") / f"{name.replace('::', '__')}.yaml"
        if not file.is_file():
            from creval.plugin.report import write_text
            from creval_lmeval.written import suite_text, task_text

            named = known().get(name)
            text = task_text(name, sources) if named is None or named.kind == "task" else suite_text(name)
            write_text(file, text)
        return file


def _all() -> Sequence[Named]:
    return sorted(known().values(), key=lambda each: each.name)


def _about(named: Named) -> str:
    if named.kind == "tag":
        return f"tag, {len(named.members)} tasks"
    if named.kind == "group":
        return "group"
    return f"{named.output or 'task in Python'}{', runs programs' if named.unsafe else ''}"

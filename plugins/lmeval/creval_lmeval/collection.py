"""The collection `lmeval/*`: names from the index, task files written when a task is first used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from creval.plugin.collections import CollectedTask, cache_folder
from creval_lmeval.names import INSTALL, installed, need_lm_eval
from creval_lmeval.roots import digest_for, known, listed

__all__ = ["LmEvalTasks"]


class LmEvalTasks:
    """A `TaskCollection`. `NAME` is a task, group or tag of lm-eval, `GROUP::NAME` a task that a group changes."""

    @property
    def title(self) -> str:
        """Return what the collection is, with its version."""
        found = installed()
        if found is None:
            return f"Tasks of lm-eval, which is not installed: {INSTALL}"
        if found.too_old:
            return f"Tasks of lm-eval, of which {found.version} is too old: {INSTALL} --upgrade"
        return f"Tasks and groups of lm-eval {found.version}, unchanged (creval ls 'lmeval/*')"

    @property
    def folder(self) -> Path:
        """Return the cache of task files."""
        return cache_folder() / "lmeval"

    def tasks(self) -> Sequence[CollectedTask]:
        """Return all names."""
        return [CollectedTask(name, title, "task" if kind == "task" else "suite") for name, title, kind in listed()]

    def has(self, name: str) -> bool:
        """Return whether there is a task, group or tag of this name. Raises MissingPartError without lm-eval."""
        need_lm_eval()
        return name.partition("::")[0] in known()

    def file(self, name: str) -> Path:
        """Return the file of a task or suite, written first if it is missing."""
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

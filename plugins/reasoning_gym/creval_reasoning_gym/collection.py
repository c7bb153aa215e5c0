"""The collection `reasoning_gym/*`: one task file for all data sets, written for each when it is first named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from creval.plugin.collections import CollectedTask, cache_folder
from creval_reasoning_gym.library import INSTALL, installed_version, levels_of, names, need_library

__all__ = ["CURVE", "ReasoningGymTasks"]

CURVE = "_levels"
"""Suffix of tasks that ask an item at several levels of difficulty."""
_FAMILY = Path(__file__).with_name("family.yaml")


class ReasoningGymTasks:
    """A `TaskCollection`. `NAME` is a data set with the library's defaults, `NAME_levels` one over its curriculum."""

    @property
    def title(self) -> str:
        """Return what the collection is, with its version."""
        found = installed_version()
        if found is None:
            return f"Data sets of Reasoning Gym, which is not installed: {INSTALL}"
        return f"Data sets of Reasoning Gym {found} (creval ls 'reasoning_gym/*')"

    @property
    def folder(self) -> Path:
        """Return the cache of task files."""
        return cache_folder() / "reasoning_gym" / "tasks"

    def tasks(self) -> Sequence[CollectedTask]:
        """Return all names; none without the library."""
        if installed_version() is None:
            return []
        plain = [CollectedTask(name, "items of the library's default settings") for name in names()]
        return [*plain, *(CollectedTask(name + CURVE, "by level of difficulty") for name in names() if levels_of(name))]

    def has(self, name: str) -> bool:
        """Return whether there is a task of this name. Raises MissingPartError without the library."""
        known = names()
        return name in known or (name.endswith(CURVE) and bool(levels_of(name.removesuffix(CURVE))))

    def file(self, name: str) -> Path:
        """Return the file of a task, written first if it is missing."""
        text = _text(name)
        file = self.folder / need_library() / f"{name}.yaml"
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            from creval.plugin.report import write_text

            write_text(file, text)
        return file


def _text(name: str) -> str:
    """Return the family's file for one data set."""
    of = name if name in names() else name.removesuffix(CURVE)
    levels = list(levels_of(of)) if of != name else None
    text = _FAMILY.read_text(encoding="utf-8")
    marks = {
        "TASK": name,
        "SET": of,
        "LIBRARY": need_library(),
        "ABOUT": f"{of} at {len(levels)} levels of its curriculum" if levels else f"{of} with the library's defaults",
        "DATA": f", levels: {levels}" if levels else "",
        "PROTOCOL": f"{{reasoning_gym: {{level: {levels[0]}}}}}" if levels else "reasoning_gym",
        "CONDITIONS": f"{{level: {levels}}}" if levels else "{}",
    }
    for mark, value in marks.items():
        text = text.replace(f"@@{mark}@@", value)
    return text

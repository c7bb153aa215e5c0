"""Find the runs below a folder, and search them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from creval.plugin import CrevalError, Run, open_run
from creval.plugin.page import UnsafeFileError, read_bytes

__all__ = ["Listed", "Search", "find_runs"]

_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Listed:
    """The list entry of a run; only `fault` if it cannot be read."""

    folder: Path
    model: str = ""
    tasks: Sequence[str] = ()
    status: str = "unreadable"
    started: str = ""
    planned: int = 0
    cost: float = 0.0
    fault: str | None = None

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "folder": str(self.folder),
            "model": self.model,
            "tasks": list(self.tasks),
            "status": self.status,
            "started": self.started,
            "planned": self.planned,
            "cost": self.cost,
            "fault": self.fault,
        }


@dataclass(frozen=True, slots=True)
class Search:
    """The criteria of a search: patterns for model and tasks, statuses, words in the manifest."""

    models: Sequence[str] = ()
    tasks: Sequence[str] = ()
    statuses: Sequence[str] = ()
    words: Sequence[str] = ()

    def wants(self, run: Listed) -> bool:
        """Return whether a run matches."""
        return (
            _matches([run.model], self.models)
            and _matches(run.tasks, self.tasks)
            and (not self.statuses or run.status in self.statuses)
            and (not self.words or _holds(run.folder / "run.json", self.words))
        )


def _matches(names: Sequence[str], patterns: Sequence[str]) -> bool:
    if not patterns:
        return True
    return any(fnmatchcase(name, pattern) or name.endswith(f"/{pattern}") for name in names for pattern in patterns)


def _holds(manifest: Path, words: Sequence[str]) -> bool:
    try:
        text = read_bytes(manifest).decode("utf-8", "replace").lower()
    except (OSError, UnsafeFileError):
        return False
    return all(word.lower() in text for word in words)


def find_runs(places: Sequence[Path], search: Search | None = None) -> list[Listed]:
    """Return the runs in the folders and up to four levels below, oldest first. Damaged runs are listed as damaged."""
    found = [_listed(folder) for folder in dict.fromkeys(_folders(places))]
    wanted = [run for run in found if search is None or search.wants(run)]
    return sorted(wanted, key=lambda run: (run.started, str(run.folder)))


def _folders(places: Sequence[Path]) -> Iterator[Path]:
    for place in places:
        yield from _below(place, _DEPTH)


def _below(folder: Path, depth: int) -> Iterator[Path]:
    if os.path.lexists(folder / "run.json"):
        yield folder
    elif depth and folder.is_dir():
        for child in sorted(folder.iterdir()):
            if child.is_dir() and not child.name.startswith(".") and not child.is_symlink():
                yield from _below(child, depth - 1)


def _listed(folder: Path) -> Listed:
    try:
        run = open_run(folder)
        manifest = run.manifest
        return Listed(
            folder,
            model=run.model,
            tasks=tuple(run.tasks),
            status=run.status,
            started=str(manifest.get("started") or ""),
            planned=sum(int(task["planned"]) for task in manifest["tasks"]),
            cost=_cost(run),
        )
    except (CrevalError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError, OSError) as error:
        return Listed(folder, fault=" ".join(str(error).split()))


def _cost(run: Run) -> float:
    attempts: Sequence[Mapping[str, Any]] = run.manifest.get("attempts") or ()
    return sum(float(model.get("cost") or 0) for one in attempts for model in (one.get("models") or {}).values())

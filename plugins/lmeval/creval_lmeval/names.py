"""The names of lm-eval's tasks, groups and tags: an index, built once per installed version, read without lm-eval."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from creval.plugin import MissingPartError
from creval.plugin.collections import cache_folder

__all__ = ["INSTALL", "Installed", "Named", "digest_of", "installed", "names_in", "need_lm_eval", "own_version"]

INSTALL = "pip install 'creval-lmeval[lm-eval]'"
_FORM = 1
"""Of the index and of the written task files; raised when either changes."""


class Named(NamedTuple):
    """A task, group or tag. `file` is its YAML file; `members` the tasks of a tag."""

    name: str
    kind: str
    file: str = ""
    output: str = ""
    unsafe: bool = False
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Installed:
    """The installed lm-eval: its version and its folder of tasks."""

    version: str
    tasks: Path

    @property
    def cache(self) -> Path:
        """Where the index and the written task files are kept."""
        where = hashlib.sha256(str(self.tasks).encode()).hexdigest()[:8]
        return cache_folder() / "lmeval" / f"{self.version}-{own_version()}-{_FORM}-{where}"


@cache
def own_version() -> str:
    """Return the version of this plugin."""
    try:
        return version("creval-lmeval")
    except PackageNotFoundError:
        return "0"


@cache
def installed() -> Installed | None:
    """Return the installed lm-eval, None where there is none; nothing of it is imported."""
    found = importlib.util.find_spec("lm_eval")
    if found is None or not found.submodule_search_locations:
        return None
    try:
        return Installed(version("lm_eval"), Path(next(iter(found.submodule_search_locations))) / "tasks")
    except PackageNotFoundError:
        return None


def need_lm_eval() -> Installed:
    """Return the installed lm-eval. Raises MissingPartError where there is none."""
    found = installed()
    if found is None:
        raise MissingPartError("tasks of lm-eval need lm-eval, which is not installed", fix=f"Install it: {INSTALL}")
    return found


def names_in(folder: Path, file: Path) -> Mapping[str, Named]:
    """Return what a folder of tasks holds, by name; read from the index `file`, which is made where it is not there."""
    try:
        rows = json.loads(file.read_bytes())
    except (OSError, ValueError):
        from creval.plugin.report import write_text

        rows = _built(folder)
        write_text(file, json.dumps(rows, ensure_ascii=False, separators=(",", ":")))
    return {row[0]: Named(row[0], row[1], row[2], row[3], row[4], tuple(row[5])) for row in rows}


def _built(folder: Path) -> list[list[Any]]:
    """Read the YAML files of a folder with lm-eval's own index; functions that they name are not imported."""
    import logging

    need_lm_eval()
    from lm_eval.tasks._index import TaskIndex

    logger = logging.getLogger("lm_eval")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        found = TaskIndex.build([folder])
    finally:
        logger.setLevel(level)
    rows: list[list[Any]] = []
    for name, entry in sorted(found.items()):
        said = entry.cfg or {}
        kind = {"GROUP": "group", "TAG": "tag"}.get(entry.kind.name, "task")
        output = said.get("output_type", "generate_until") if entry.kind.name == "TASK" else ""
        file = str(entry.yaml_path or "")
        members = sorted(entry.tags) if kind == "tag" else []
        rows.append([name, kind, file, str(output), bool(said.get("unsafe_code")), members])
    return rows


def digest_of(folder: Path) -> str:
    """Return the sha256 (hex) over the files of a folder of tasks that decide what they do: YAML and Python."""
    found = hashlib.sha256()
    for file in sorted(each for ending in ("*.yaml", "*.yml", "*.py", "*.jinja*") for each in folder.rglob(ending)):
        if file.is_file():
            content = file.read_bytes()
            found.update(f"{file.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
            found.update(content)
    return found.hexdigest()

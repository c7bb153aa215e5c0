"""The names of lm-eval's tasks, groups and tags: an index, built once per installed version, read without lm-eval."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from creval.plugin import MissingPartError
from creval.plugin.collections import cache_folder, installed_version

__all__ = [
    "INSTALL",
    "Installed",
    "Named",
    "digest_of",
    "installed",
    "lines_in",
    "names_in",
    "need_lm_eval",
    "write_index",
]

INSTALL = "pip install 'creval-lmeval[lm-eval]'"
_FORM = 2
"""Version of the index and of the written task files; increased when either changes."""
_OLDEST = (0, 4, 13)


class Named(NamedTuple):
    """A task, group or tag. `file` is its YAML file; `members` the tasks of a tag."""

    name: str
    kind: str
    file: str = ""
    output: str = ""
    unsafe: bool = False
    members: tuple[str, ...] = ()


class Installed(NamedTuple):
    """The installed lm-eval: its version and its folder of tasks."""

    version: str
    tasks: Path

    @property
    def cache(self) -> Path:
        """Return the folder of the index and the written task files."""
        where = hashlib.sha256(str(self.tasks).encode()).hexdigest()[:8]
        own = installed_version("creval-lmeval") or "0"
        return cache_folder() / "lmeval" / f"{self.version}-{own}-{_FORM}-{where}"

    @property
    def too_old(self) -> bool:
        """Return whether it is older than 0.4.13, which has other parts."""
        return tuple(int(each) for each in re.findall(r"\d+", self.version)[:3]) < _OLDEST


@cache
def installed() -> Installed | None:
    """Return the installed lm-eval, None if there is none, without importing it."""
    found = importlib.util.find_spec("lm_eval")
    if found is None or not found.submodule_search_locations:
        return None
    version = installed_version("lm_eval")
    return Installed(version, Path(next(iter(found.submodule_search_locations))) / "tasks") if version else None


def need_lm_eval() -> Installed:
    """Return the installed lm-eval. Raises MissingPartError if it is missing or too old."""
    found = installed()
    if found is None:
        raise MissingPartError("tasks of lm-eval need lm-eval, which is not installed", fix=f"Install it: {INSTALL}")
    if found.too_old:
        what = f"tasks of lm-eval need lm-eval 0.4.13 or later, and {found.version} is installed"
        raise MissingPartError(what, fix=f"Install it: {INSTALL} --upgrade")
    return found


def names_in(folder: Path, file: Path) -> Mapping[str, Named]:
    """Return the contents of a folder of tasks, by name, from the index `file`, which is built if it is missing."""
    try:
        rows = json.loads(file.read_bytes())
    except (OSError, ValueError):
        rows = _built(folder)
        write_index(file, rows)
    return {row[0]: Named(row[0], row[1], row[2], row[3], row[4], tuple(row[5])) for row in rows}


def lines_in(folder: Path, file: Path) -> Sequence[Sequence[str]]:
    """Return name, title and `task` or `suite` of a folder's entries: the flat part of the index."""
    flat = file.with_suffix(".tsv")
    if not flat.is_file():
        file.unlink(missing_ok=True)
        names_in(folder, file)
    return [line.split("\t") for line in flat.read_text(encoding="utf-8").splitlines()]


def write_index(file: Path, rows: Sequence[Sequence[Any]]) -> None:
    """Write a file of one line per name, then the index: a list parses only the first."""
    from creval.plugin.report import write_text

    lines = ("\t".join(_list_row(Named(*row))) for row in rows)
    write_text(file.with_suffix(".tsv"), "".join(f"{line}\n" for line in lines))
    write_text(file, json.dumps(rows, ensure_ascii=False, separators=(",", ":")))


def _list_row(named: Named) -> tuple[str, str, str]:
    title = f"{named.output or 'task in Python'}{', runs programs' if named.unsafe else ''}"
    if named.kind != "task":
        title = f"tag, {len(named.members)} tasks" if named.kind == "tag" else "group"
    return named.name, " ".join(title.split()), "task" if named.kind == "task" else "suite"


def _built(folder: Path) -> list[list[Any]]:
    """Read the YAML files of a folder with lm-eval's own index, without importing the functions that they name."""
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
    """Return the sha256 (hex) over the files of a folder that define its tasks: YAML and Python."""
    found = hashlib.sha256()
    for file in sorted(each for ending in ("*.yaml", "*.yml", "*.py", "*.jinja*") for each in folder.rglob(ending)):
        if file.is_file():
            content = file.read_bytes()
            found.update(f"{file.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
            found.update(content)
    return found.hexdigest()

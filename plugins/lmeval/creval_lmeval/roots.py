"""Sources of tasks: the installed lm-eval, and the user's folders, by consent.

A folder's Python files run when one of its tasks is loaded, so a command includes it (`creval lmeval include`) and
records the digest of its files as trusted. A folder whose files have changed is left out until it is included again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from creval.plugin import DataError
from creval.plugin.collections import State
from creval_lmeval.names import Named, digest_of, installed, lines_in, names_in

__all__ = ["Root", "digest_for", "include", "known", "listed", "root_of", "roots", "withdraw"]

_LIST = "lmeval_folders.json"
_LOG = logging.getLogger("creval")


class Root(NamedTuple):
    """A folder of the user's tasks; `trusted`: its files are those that the user allowed."""

    folder: Path
    digest: str
    trusted: bool


def roots() -> Sequence[Root]:
    """Return the folders that the user has included, in order: a later one's tasks come before an earlier one's."""
    state = State()
    found = []
    for folder in map(Path, _listed(state)):
        if folder.is_dir():
            digest = digest_of(folder)
            found.append(Root(folder, digest, state.knows(digest)))
    return found


def include(folder: Path) -> Root:
    """Trust a folder in its current state, and list it."""
    state = State()
    digest = digest_of(folder)
    state.trust(digest, f"tasks of lm-eval in {folder}")
    listed = [each for each in _listed(state) if each != str(folder)]
    _write(state, [*listed, str(folder)])
    known.cache_clear()
    return Root(folder, digest, state.knows(digest))


def withdraw(folder: Path) -> bool:
    """Remove a folder from the list; return whether it was listed."""
    state = State()
    listed = _listed(state)
    _write(state, [each for each in listed if each != str(folder)])
    known.cache_clear()
    return str(folder) in listed


def _listed(state: State) -> list[str]:
    try:
        found = json.loads((state.folder / _LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [str(each) for each in found] if isinstance(found, list) else []


def _write(state: State, folders: Sequence[str]) -> None:
    state.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (state.folder / _LIST).write_text(json.dumps(folders, ensure_ascii=False), encoding="utf-8")


@lru_cache(maxsize=1)
def known() -> Mapping[str, Named]:
    """Return all names: lm-eval's, overridden by those of the included folders."""
    return {name: each for place in _places() for name, each in names_in(*place).items()}


def listed() -> Sequence[Sequence[str]]:
    """Return name, title and kind of all that `known` has, sorted by name."""
    found = {line[0]: line for place in _places() for line in lines_in(*place)}
    return [found[name] for name in sorted(found)]


def _places() -> Iterator[tuple[Path, Path]]:
    """Yield the folders whose tasks may be used, each with its index."""
    own = installed()
    if own is None or own.too_old:
        return
    yield own.tasks, own.cache / "names.json"
    for root in roots():
        if root.trusted:
            yield root.folder, own.cache / root.digest[:16] / "names.json"
        else:
            _LOG.warning("%s has changed since you allowed it; to use it: creval lmeval include %s", *[root.folder] * 2)


def digest_for(name: str) -> str:
    """Return the digest of the included folder of a task, "" for a task of lm-eval itself."""
    named = known().get(name.partition("::")[0])
    for root in reversed(roots()):
        if named is not None and named.file and Path(named.file).is_relative_to(root.folder):
            return root.digest if root.trusted else ""
    return ""


def root_of(name: str, sources: str) -> None:
    """Raise DataError if a task's folder, by its digest, is not the one for which its task file was written."""
    if digest_for(name) != sources:
        raise DataError(
            "the folder of the task has changed since its task file was written, or is not included",
            where=f"lmeval/{name}",
            fix="Name the task again: creval lmeval include FOLDER, then --tasks lmeval/NAME.",
        )

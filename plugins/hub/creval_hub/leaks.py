"""Leaks: keys, the user's folders, and the user's name in a path, which must not leave this machine."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from creval.plugin import UsageError
from creval.plugin.hub import open_plain, secret_variables
from creval_hub.secrets import SecretFinder

__all__ = ["Leak", "find_leaks", "local_roots", "refuse_leaks"]

_HOME = re.compile(
    r"(?<![\w.])(?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2})(?!user\b|username\b|\.\.\.)[^/\\\s\"'<>:]+", re.ASCII
)
_SHOWN = 10
_BLOCK = 4_000_000  # bytes that are examined together
_LONGEST_LINE = 50_000_000


@dataclass(frozen=True, slots=True)
class Leak:
    """Something that must not be published: its file in the run, its line, and its kind; never the text."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


def local_roots(run: Path) -> Sequence[str]:
    """Return the folders that no published text may name: the home folder, the working folder, and that of the run."""
    places = {Path.home(), Path.cwd(), run.absolute().parent, run.resolve().parent}
    return sorted((str(place) for place in places if len(place.parts) > 1), key=len, reverse=True)


def find_leaks(
    files: Mapping[str, Path], roots: Sequence[str], environ: Mapping[str, str] | None = None
) -> Iterator[Leak]:
    """Yield the leaks of text files, by the names that the files will have.

    Secrets are searched for as in `SecretFinder`, paths both plain and as escaped in JSON.
    """
    environ = os.environ if environ is None else environ
    secrets = SecretFinder({name: value for name, value in secret_variables(environ).items() if len(value) >= 8})
    forms = [(root, json.dumps(root, ensure_ascii=False)[1:-1]) for root in roots]
    for name, path in files.items():
        with os.fdopen(open_plain(path), "rb") as file:
            first = 1
            while lines := _block(file, name, first):
                found = [(each.line, each.what) for each in secrets.find(lines)]
                found += [(at, what) for at, line in enumerate(lines) if (what := _place(line, forms)) is not None]
                yield from (Leak(name, first + at, what) for at, what in sorted(found))
                first += len(lines)


def _block(file: BinaryIO, name: str, first: int) -> list[str]:
    """Read the next lines, none at the end. Raises UsageError for one that is too long to examine."""
    lines: list[str] = []
    size = 0
    while size < _BLOCK and (line := file.readline(_LONGEST_LINE)):
        if len(line) == _LONGEST_LINE:
            what = f"a line is longer than {_LONGEST_LINE:,} bytes, and is not checked"
            where = f"{name}:{first + len(lines)}"
            raise UsageError(what, where=where, fix="Remove the line, and score the run again.")
        lines.append(line.decode("utf-8", "replace"))
        size += len(line)
    return lines


def _place(text: str, roots: Sequence[tuple[str, str]]) -> str | None:
    if any(_names(text, root) or _names(text, escaped) for root, escaped in roots):
        return "a folder of this machine"
    return "a user's home folder" if _HOME.search(text) else None


def _names(text: str, root: str) -> bool:
    at = text.find(root)
    while at >= 0:
        after = text[at + len(root) : at + len(root) + 1]
        if not (after.isalnum() or after in ("_", "-")):
            return True
        at = text.find(root, at + 1)
    return False


def refuse_leaks(leaks: Sequence[Leak], run: Path) -> None:
    """Raise UsageError with the locations of the leaks, if there are any."""
    if not leaks:
        return
    listed = "\n".join(f"  {leak}" for leak in leaks[:_SHOWN])
    more = f"\n  and {len(leaks) - _SHOWN} more" if len(leaks) > _SHOWN else ""
    raise UsageError(
        f"the run contains what must not leave this machine:\n{listed}{more}",
        where=str(run),
        fix="Nothing was sent. Take these lines out of a copy of the run (creval resume makes such samples again), or "
        "make the run again without them.",
    )

"""What must not leave this machine: keys, the user's own folders, the user's name in a path."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from creval.plugin import UsageError
from creval.plugin.hub import Mask, open_plain, redact, secret_variables

__all__ = ["Leak", "find_leaks", "local_roots", "refuse_leaks"]

_HOME = re.compile(
    r"(?<![\w.])(?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2})(?!user\b|username\b|\.\.\.)[^/\\\s\"'<>:]+", re.ASCII
)
_SHOWN = 10
_MAX_LINE = 50_000_000


@dataclass(frozen=True, slots=True)
class Leak:
    """One place that would tell what it must not: its file in the run, its line, and what it is; never the text."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


def local_roots(run: Path) -> Sequence[str]:
    """Return the folders of this machine that no published text may name: home, working folder, that of the run."""
    places = {Path.home(), Path.cwd(), run.absolute().parent, run.resolve().parent}
    return sorted((str(place) for place in places if len(place.parts) > 1), key=len, reverse=True)


def find_leaks(
    files: Mapping[str, Path], roots: Sequence[str], environ: Mapping[str, str] | None = None
) -> Iterator[Leak]:
    """Yield the leaks of text files, by the name that each will have.

    Keys are looked for in every form that `creval.models.secrets` knows; paths as they are and as JSON escapes them.
    """
    environ = os.environ if environ is None else environ
    named = {name: value for name, value in secret_variables(environ).items() if len(value) >= 8}
    masks = {name: Mask([value]) for name, value in named.items()}
    forms = [(root, json.dumps(root, ensure_ascii=False)[1:-1]) for root in roots]
    for name, path in files.items():
        with os.fdopen(open_plain(path), "rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(_MAX_LINE), b""), start=1):
                if len(line) == _MAX_LINE:
                    what = f"a line is longer than {_MAX_LINE:,} bytes, and is not looked at"
                    raise UsageError(what, where=f"{name}:{number}", cure="Remove the line, and score the run again.")
                for what in _in_line(line.decode("utf-8", "replace"), masks, forms):
                    yield Leak(name, number, what)


def _in_line(text: str, masks: Mapping[str, Mask], roots: Sequence[tuple[str, str]]) -> Iterator[str]:
    hidden = [variable for variable, mask in masks.items() if mask.hide(text) != text]
    for variable in hidden:
        yield f"the value of the environment variable {variable}"
    if not hidden and redact(text) != text and "[key]" not in text:
        yield "what looks like a key"
    for root, escaped in roots:
        if _names(text, root) or _names(text, escaped):
            yield "a folder of this machine"
            return
    if _HOME.search(text):
        yield "a user's home folder"


def _names(text: str, root: str) -> bool:
    at = text.find(root)
    while at >= 0:
        after = text[at + len(root) : at + len(root) + 1]
        if not (after.isalnum() or after in ("_", "-")):
            return True
        at = text.find(root, at + 1)
    return False


def refuse_leaks(leaks: Sequence[Leak], run: Path) -> None:
    """Raises UsageError that names the places of the leaks, where there are any."""
    if not leaks:
        return
    listed = "\n".join(f"  {leak}" for leak in leaks[:_SHOWN])
    more = f"\n  and {len(leaks) - _SHOWN} more" if len(leaks) > _SHOWN else ""
    raise UsageError(
        f"the run would tell what must not leave this machine:\n{listed}{more}",
        where=str(run),
        cure="Nothing was sent. Take these lines out of a copy of the run (creval resume makes such samples anew), or "
        "make the run again so that it does not tell them.",
    )

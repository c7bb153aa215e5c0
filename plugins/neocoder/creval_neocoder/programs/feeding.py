"""How a program gets its cases: the whole sample at once after its count, as in the contest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from creval_neocoder.problem import Case

__all__ = ["Run", "runs"]


class Run(NamedTuple):
    """One run of a program: its standard input, and the words that it should print."""

    stdin: bytes
    words: tuple[str, ...]


def runs(cases: Sequence[Case], counted: bool) -> list[Run]:
    """Return the runs for some cases: one, or one per case if the input has no count."""
    if not counted:
        return [Run(_text(case.lines), case.words) for case in cases]
    if not cases:
        return []
    lines = [str(len(cases)), *(line for case in cases for line in case.lines)]
    return [Run(_text(lines), tuple(word for case in cases for word in case.words))]


def _text(lines: Sequence[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()

"""The statement's own sample, whose line breaks are partly lost in the annotated tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Sample", "any_letter_case", "read_samples"]

_BEGIN = re.compile(r"^Examples?$", re.MULTILINE)
_PART = re.compile(r"^(Input|Output|Note)\s*$", re.MULTILINE)
_ANY_CASE = re.compile(
    r"in any case|any (?:letter )?case|case[- ]insensitive|any register|upper or lower case|each letter .{0,60}case",
    re.IGNORECASE,
)


class Sample(NamedTuple):
    """One example: its whole input, and the whole output."""

    input: str
    output: str


def read_samples(statement: str) -> Sequence[Sample]:
    """Return the examples at the end of a statement, in order; empty if there are none."""
    begins = list(_BEGIN.finditer(statement))
    if not begins:
        return ()
    parts = _PART.split(statement[begins[-1].end() :])
    found: list[Sample] = []
    given: str | None = None
    for kind, text in zip(parts[1::2], parts[2::2], strict=False):
        if kind == "Note":
            break
        if kind == "Input":
            given = text.strip("\n") + "\n"
        elif given is not None:
            found.append(Sample(given, text.strip("\n") + "\n"))
            given = None
    return found


def any_letter_case(statement: str) -> bool:
    """Return whether the statement accepts the answer's letters in either case."""
    return _ANY_CASE.search(statement) is not None

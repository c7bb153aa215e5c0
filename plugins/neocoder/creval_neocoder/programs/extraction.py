"""Finds the program in an answer: the prompt asks for imports and a function solve(), and not to call it."""

from __future__ import annotations

import re

from creval_neocoder.programs.entry import runs_itself, with_call
from creval_sandbox.code.python_programs import find_python, parse_python

__all__ = ["find_program", "find_source", "is_python", "runnable"]

_SOLVE = re.compile(r"^[ \t]*def[ \t]+solve[ \t]*\(", re.MULTILINE)


def find_program(text: str) -> str | None:
    """Return the program of an answer, ready to run, or None if there is none.

    Of several fenced blocks the last one counts that defines solve(), else the last one (`find_python`). See `runnable`
    for what is kept.
    """
    source = find_source(text)
    return runnable(source) if source is not None else None


def find_source(text: str) -> str | None:
    """Return the program of an answer as it was written, or None if there is none."""
    return find_python(text, _SOLVE)


def runnable(source: str) -> str:
    """Return a program that calls solve(), in its own words.

    A program that reaches solve() by itself, or has none, is run as it is written (`entry.runs_itself`). Of any other
    what follows the last solve() is left out but for definitions, and a call is added (`entry.with_call`).
    """
    tree = parse_python(source)
    assert tree is not None, "only sources that parse are run"
    if runs_itself(tree):
        return source if source.endswith("\n") else source + "\n"
    return with_call(source, tree)


def is_python(source: str) -> bool:
    """Whether Python 3 reads it: of the human solutions a part is in other languages."""
    return parse_python(source) is not None

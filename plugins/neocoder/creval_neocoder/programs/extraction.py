"""Find the program in an answer: the prompt requires imports and a function solve(), without a call of it."""

from __future__ import annotations

import re

from creval_neocoder.programs.entry import runs_itself, with_call
from creval_sandbox.code.python_programs import find_python, parse_python

__all__ = ["find_program", "find_source", "is_python", "runnable"]

_SOLVE = re.compile(r"^[ \t]*def[ \t]+solve[ \t]*\(", re.MULTILINE)


def find_program(text: str) -> str | None:
    """Return the program of an answer, ready to run, or None if there is none.

    Of several fenced blocks the last one that defines solve() counts, or else the last one (`find_python`). See
    `runnable` for the parts that are kept.
    """
    source = find_source(text)
    return runnable(source) if source is not None else None


def find_source(text: str) -> str | None:
    """Return the program of an answer as written, or None if there is none."""
    return find_python(text, _SOLVE)


def runnable(source: str) -> str:
    """Return a program that calls solve(), in its original wording.

    A program that reaches solve() by itself, or has none, is run as written (`entry.runs_itself`). Of any other
    program only definitions are kept after the last solve(), and a call is added (`entry.with_call`).
    """
    tree = parse_python(source)
    assert tree is not None, "only sources that parse are run"
    if runs_itself(tree):
        return source if source.endswith("\n") else source + "\n"
    return with_call(source, tree)


def is_python(source: str) -> bool:
    """Return whether Python 3 parses it: some of the human solutions are in other languages."""
    return parse_python(source) is not None

"""Finds the program in an answer: the prompt asks for imports and a function solve(), and not to call it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence

from creval_neocoder.programs.entry import runs_itself, with_call

__all__ = ["find_program", "find_source", "is_python", "runnable"]

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n`]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_SOLVE = re.compile(r"^[ \t]*def[ \t]+solve[ \t]*\(", re.MULTILINE)
_BEGINS = re.compile(r"^(?:import |from |def |class |@|async def )", re.MULTILINE)
_ONE_BY_ONE = 64  # lines of a beginning that is none, before the steps grow


def find_program(text: str) -> str | None:
    """Return the program of an answer, ready to run, or None where there is none.

    Of several fenced blocks the last one counts that defines solve(), else the last one. Of it the longest beginning
    that is Python is taken (an answer may be cut); where that would be lost in the middle of a statement of more than
    64 lines, a shorter one. See `runnable` for what is kept.
    """
    source = find_source(text)
    return runnable(source) if source is not None else None


def find_source(text: str) -> str | None:
    """Return the program of an answer as it was written, or None where there is none."""
    return next((source for block in _candidates(text) if (source := _longest_prefix(block)) is not None), None)


def runnable(source: str) -> str:
    """Return a program that calls solve(), in its own words.

    A program that reaches solve() by itself, or has none, is run as it is written (`entry.runs_itself`). Of any other
    what follows the last solve() is left out but for definitions, and a call is added (`entry.with_call`).
    """
    tree = _parse(source)
    assert tree is not None, "only sources that parse are run"
    if runs_itself(tree):
        return source if source.endswith("\n") else source + "\n"
    return with_call(source, tree)


def is_python(source: str) -> bool:
    """Whether Python 3 reads it: of the human solutions a part is in other languages."""
    return _parse(source) is not None


def _candidates(text: str) -> Sequence[str]:
    """The texts that may be the program, the likeliest first."""
    blocks = [match[2] for match in _FENCE.finditer(text)]
    if blocks:
        solving = [block for block in blocks if _SOLVE.search(block)]
        return [*reversed(solving), *(block for block in reversed(blocks) if block not in solving)]
    begin = _BEGINS.search(text)
    return [text, text[begin.start() :]] if begin else [text]


def _longest_prefix(block: str) -> str | None:
    """The longest run of whole lines from the beginning that is Python and does something.

    Where Python finds fault only with the end (a `try` that was cut, decorators of nothing), each line less may help:
    after 64 of them each step takes an eighth of the rest, so that the time is in proportion to the length.
    """
    lines = block.strip("\n").split("\n")
    if _indented(lines):
        lines = [line[len(lines[0]) - len(lines[0].lstrip()) :] for line in lines]
    end, tries = len(lines), 0
    while end > 0:
        source = "\n".join(lines[:end])
        tree, line = _parsed(source)
        if tree is not None:
            return source if any(not _says_nothing(node) for node in tree.body) else None
        step = 1 if tries < _ONE_BY_ONE else max(1, end // 8)
        end = min(end, line) - step  # whatever holds the faulty line is faulty, too
        tries += 1
    return None


def _indented(lines: Sequence[str]) -> bool:
    return bool(lines) and lines[0][:1] in (" ", "\t")


def _parse(source: str) -> ast.Module | None:
    return _parsed(source)[0]


def _parsed(source: str) -> tuple[ast.Module | None, int]:
    """Return the tree, or None and the line that is no Python (where Python names none: one beyond the last)."""
    beyond = source.count("\n") + 2
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _tree(source), beyond
    except SyntaxError as error:
        return None, error.lineno or beyond
    except (ValueError, RecursionError, MemoryError):
        return None, beyond


def _tree(source: str) -> ast.Module:
    """Parse; once more where CPython 3.11 lost count of its own depth, which says nothing of the source.

    It keeps one count for all that parse at a time, and raises SystemError ("recursion depth mismatch").
    """
    try:
        return ast.parse(source)
    except SystemError:
        return ast.parse(source)


def _says_nothing(node: ast.stmt) -> bool:
    """A word, a number or a comparison by itself: prose that happens to be Python. What calls nothing does nothing."""
    active = (ast.Call, ast.Await, ast.Yield)
    return isinstance(node, ast.Expr) and not any(isinstance(part, active) for part in ast.walk(node))

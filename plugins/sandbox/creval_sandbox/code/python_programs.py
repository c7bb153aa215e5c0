"""Find the program in an answer: in fenced blocks, or as the longest beginning of a text that is Python.

Other distributions may import these names; the way to find a program may improve in a minor version.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence

__all__ = ["fenced_blocks", "find_python", "longest_python", "parse_python"]

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n`]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_BEGINS = re.compile(r"^(?:import |from |def |class |@|async def )", re.MULTILINE)
_ONE_BY_ONE = 64  # lines that are removed one by one before the steps grow


def fenced_blocks(text: str, wanted: re.Pattern[str]) -> Sequence[str]:
    """Return the fenced blocks of an answer, the likeliest program first: the last one with `wanted`, then the last."""
    blocks = [match[2] for match in _FENCE.finditer(text)]
    fitting = [block for block in blocks if wanted.search(block)]
    return [*reversed(fitting), *(block for block in reversed(blocks) if block not in fitting)]


def find_python(text: str, wanted: re.Pattern[str]) -> str | None:
    """Return the Python program of an answer as written, or None.

    Of several fenced blocks the last one with `wanted` counts, else the last one. Returns its longest beginning that is
    Python (an answer may be cut), or a shorter one if the cut is inside a statement of more than 64 lines.
    """
    begin = _BEGINS.search(text)
    candidates = fenced_blocks(text, wanted) or ([text, text[begin.start() :]] if begin else [text])
    return next((source for block in candidates if (source := longest_python(block)) is not None), None)


def longest_python(block: str) -> str | None:
    """Return the longest run of whole lines from the beginning that is Python with an effect, or None.

    If only the end is invalid (a `try` that was cut, decorators without a function), lines are removed one by
    one; after 64 of them each step removes an eighth of the rest, so that the time is linear in the length.
    """
    lines = block.strip("\n").split("\n")
    if lines[0][:1] in (" ", "\t"):
        lines = [line[len(lines[0]) - len(lines[0].lstrip()) :] for line in lines]
    end, tries = len(lines), 0
    while end > 0:
        source = "\n".join(lines[:end])
        tree, line = _parsed(source)
        if tree is not None:
            return source if any(not _says_nothing(node) for node in tree.body) else None
        step = 1 if tries < _ONE_BY_ONE else max(1, end // 8)
        end = min(end, line) - step  # any text that contains the faulty line is also faulty
        tries += 1
    return None


def parse_python(source: str) -> ast.Module | None:
    """Return the syntax tree of a source, or None if it is not valid Python."""
    return _parsed(source)[0]


def _parsed(source: str) -> tuple[ast.Module | None, int]:
    """Return the tree, or None and the faulty line (one after the last if Python names none)."""
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
    """Parse; retry after a false error of CPython 3.11, which may miscount its own depth.

    It shares one counter between simultaneous parsers, and raises SystemError ("recursion depth mismatch").
    """
    try:
        return ast.parse(source)
    except SystemError:
        return ast.parse(source)


def _says_nothing(node: ast.stmt) -> bool:
    """Return whether a statement is only a word, number or comparison: prose that is valid Python without effect."""
    active = (ast.Call, ast.Await, ast.Yield)
    return isinstance(node, ast.Expr) and not any(isinstance(part, active) for part in ast.walk(node))

"""A detector without a language model, for Python, based on the syntax tree of a program.

It knows only a part of the vocabulary (`SEEN`), and serves as a cross-check of the augmenter; it affects no score.
"""

from __future__ import annotations

import ast

__all__ = ["SEEN", "techniques_of"]

_STATEMENTS: tuple[tuple[type[ast.AST], str], ...] = (
    (ast.If, "if statement"),
    (ast.IfExp, "if statement"),
    (ast.For, "for loop"),
    (ast.comprehension, "for loop"),
    (ast.While, "while loop"),
    (ast.Break, "break statement"),
    (ast.Continue, "continue statement"),
    (ast.Pass, "pass statement"),
    (ast.Match, "match statement"),
    (ast.Set, "set"),
    (ast.SetComp, "set"),
    (ast.Dict, "dictionary"),
    (ast.DictComp, "dictionary"),
    (ast.Tuple, "tuple"),
)
_CALLS = {
    "set": "set",
    "frozenset": "set",
    "dict": "dictionary",
    "defaultdict": "dictionary",
    "Counter": "dictionary",
    "tuple": "tuple",
    "sorted": "sorting",
    "sort": "sorting",
    "deque": "queue",
    "Queue": "queue",
    "popleft": "queue",
    "heappush": "heap",
    "heappop": "heap",
    "heapify": "heap",
    "bisect": "binary search",
    "bisect_left": "binary search",
    "bisect_right": "binary search",
    "lru_cache": "dynamic programming",
    "cache": "dynamic programming",
}

SEEN = frozenset({name for _, name in _STATEMENTS} | set(_CALLS.values()) | {"recursion"})
"""The techniques that this detector can find."""


def techniques_of(program: str) -> frozenset[str]:
    """Return the techniques that the syntax of a Python program shows; empty if it is not Python."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    found = {name for node in ast.walk(tree) for kind, name in _STATEMENTS if isinstance(node, kind)}
    for node in ast.walk(tree):
        name = _called(node)
        if name in _CALLS:
            found.add(_CALLS[name])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _calls_itself(node):
            found.add("recursion")
    return frozenset(found)


def _called(node: ast.AST) -> str:
    """Return the bare name that a call or decorator refers to."""
    if isinstance(node, ast.Call):
        node = node.func
        if isinstance(node, ast.Name):
            return node.id
        return node.attr if isinstance(node, ast.Attribute) else ""
    return ""


def _calls_itself(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(_called(node) == function.name for node in ast.walk(function))

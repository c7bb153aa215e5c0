"""Keep answers from verifiers that would execute them: several use `eval`, or sympy, which uses it."""

from __future__ import annotations

import ast
import re

__all__ = ["REFUSED", "is_harmless"]

REFUSED = "?"
"""The text that a verifier gets in place of an unsafe answer: no verifier can use it."""
_LISTS = frozenset({"binary_matrix", "n_queens", "spiral_matrix", "string_insertion"})
"""Data sets whose verifier evaluates the answer as a Python list."""
_FORMULAS = frozenset(
    {"countdown", "intermediate_integration", "polynomial_multiplication", "puzzle24", "simple_integration"}
)
"""Data sets whose verifier reads the answer with sympy, which evaluates it."""
_FUNCTIONS = frozenset(
    {"sin", "cos", "tan", "exp", "log", "ln", "sqrt", "Abs", "sinh", "cosh", "atan", "asin", "acos", "Integral"}
)
_MOST_CHARACTERS = 200_000
_MOST_OF_FORMULA = 1_000
_MOST_DIGITS = 12
_MOST_POWER = 100
_MOST_POWERS = 40
_NODES = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Constant, ast.Load, ast.Add, ast.Sub, ast.Mult,
    ast.Div, ast.Pow, ast.UAdd, ast.USub,
)  # fmt: skip


def is_harmless(name: str, answer: str) -> bool:
    """Return whether the verifier of a data set may read an answer: no code, no endless powers, no huge repetitions."""
    if len(answer) > _MOST_CHARACTERS:
        return False
    if name in _LISTS:
        return _is_list_or_no_code(answer)
    if name in _FORMULAS:
        return _is_formula(answer)
    return name != "rubiks_cube" or re.search(r"\d{3}", answer) is None  # `R999999` is a million moves


def _is_list_or_no_code(answer: str) -> bool:
    """Return whether the text is a literal, or not Python at all, which `eval` rejects by itself."""
    try:
        tree = ast.parse(answer.strip(), mode="eval")
    except SyntaxError:
        return True
    except (ValueError, RecursionError, MemoryError):
        return False
    allowed = (ast.Expression, ast.List, ast.Tuple, ast.Constant, ast.UnaryOp, ast.USub, ast.Load, ast.Name)
    return all(isinstance(node, allowed) for node in ast.walk(tree))


def _is_formula(answer: str) -> bool:
    if len(answer) > _MOST_OF_FORMULA:
        return False
    try:
        tree = ast.parse(answer.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    nodes = list(ast.walk(tree))
    powers = [node for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)]
    return (
        all(isinstance(node, _NODES) for node in nodes)
        and all(_is_plain_name(node.id) for node in nodes if isinstance(node, ast.Name))
        and all(isinstance(n.func, ast.Name) and not n.keywords for n in nodes if isinstance(n, ast.Call))
        and all(_is_number(node.value) for node in nodes if isinstance(node, ast.Constant))
        and len(powers) <= _MOST_POWERS
        and all(_is_small_power(power) for power in powers)
    )


def _is_plain_name(name: str) -> bool:
    return name in _FUNCTIONS or name in ("pi", "E") or (len(name) == 1 and name.isalpha())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and len(repr(value)) <= _MOST_DIGITS + 8


def _is_small_power(power: ast.BinOp) -> bool:
    """Return whether a power is symbolic or of two small numbers; powers of powers of numbers are neither."""
    numbers = [node.value for node in ast.walk(power.right) if isinstance(node, ast.Constant)]
    inner = [node for node in (*ast.walk(power.left), *ast.walk(power.right)) if isinstance(node, ast.Pow)]
    bounded = all(isinstance(each, int | float) and abs(each) <= _MOST_POWER for each in numbers)
    return bounded and (not inner or _has_symbol(power.left))


def _has_symbol(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Name) and each.id not in _FUNCTIONS for each in ast.walk(node))

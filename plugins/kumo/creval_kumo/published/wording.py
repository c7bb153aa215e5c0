"""The authors' wording of a game, read from their source text, which is neither executed nor shipped.

env/<name>_env.py          `get_system_prompt`: the beginning of a game, and the text before its knowledge book
agents/vanilla_agent.py    `response`: the first message, the instruction of each round, and a result
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creval.plugin import DataError

__all__ = ["Wording"]

_TRUTHS, _ACTIONS = "truths", "actions"
_SYSTEM_FIELDS = {"self.env.truth_space": _TRUTHS, "self.env.action_space": _ACTIONS}
_ROUND_FIELDS = {"self.T": _TRUTHS, "self.A": _ACTIONS}
_BOOK, _OBSERVATION = {"book": "book"}, {"observation": "observation"}

Pieces = Sequence[tuple[bool, str]]
"""The parts of an f-string: (whether it is a field, our name for the field or the text)."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The texts of one domain. `guide` and `result` are the texts before the book and before an observation."""

    system: Pieces
    guide: str
    begin: str
    round: Pieces
    result: str

    @classmethod
    def read(cls, domain: Path, agent: Path) -> Wording:
        """Read a domain's file and the agent's. Raises DataError if the form of either is not the expected one."""
        said = _method(domain, "get_system_prompt")
        turn = _method(agent, "response")
        try:
            return cls(
                system=_only(said, _SYSTEM_FIELDS),
                guide=_before(_only(said, _BOOK)),
                begin=_begin(turn),
                round=_only(turn, _ROUND_FIELDS),
                result=_before(_only(turn, _OBSERVATION)),
            )
        except ValueError as error:
            where = f"{domain} and {agent}"
            raise DataError(f"the authors' wording has another form: {error}", where=where) from error

    def of(self, truths: Sequence[str], actions: Sequence[str]) -> dict[str, str]:
        """Return the texts of a game; lists are written as Python writes them, as in the authors' runs."""
        lists = {_TRUTHS: str(list(truths)), _ACTIONS: str(list(actions))}
        return {
            "system": _filled(self.system, lists),
            "guide": self.guide,
            "begin": self.begin,
            "round": _filled(self.round, lists),
            "result": self.result,
        }


def _method(file: Path, name: str) -> ast.FunctionDef:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, SyntaxError, ValueError, RecursionError) as error:
        raise DataError(f"the authors' wording cannot be read: {error}", where=str(file)) from error
    for part in ast.walk(tree):
        if isinstance(part, ast.FunctionDef) and part.name == name:
            return part
    raise DataError(f"the authors' wording has another form: there is no method {name}", where=str(file))


def _only(method: ast.FunctionDef, fields: Mapping[str, str]) -> Pieces:
    """Return the one f-string of a method that has exactly these fields."""
    found = [pieces for pieces in _texts(method) if {name for is_field, name in pieces if is_field} == set(fields)]
    if len(found) != 1:
        raise ValueError(f"{method.name} has {len(found)} texts with {' and '.join(fields)}")
    return [(is_field, fields[part] if is_field else part) for is_field, part in found[0]]


def _texts(method: ast.FunctionDef) -> Iterator[Pieces]:
    for node in ast.walk(method):
        if isinstance(node, ast.JoinedStr):
            yield [_piece(value) for value in node.values]


def _piece(value: ast.expr) -> tuple[bool, str]:
    if isinstance(value, ast.FormattedValue):
        plain = value.conversion == -1 and value.format_spec is None
        return True, ast.unparse(value.value) if plain else ast.unparse(value)
    assert isinstance(value, ast.Constant)
    return False, str(value.value)


def _before(pieces: Pieces) -> str:
    """Return the text before the field that a text ends with."""
    if len(pieces) != 2 or pieces[0][0]:
        raise ValueError("a text does not end with its only field")
    return pieces[0][1]


def _begin(method: ast.FunctionDef) -> str:
    """Return the only user message that is a literal."""
    found: list[Any] = [
        value.value
        for node in ast.walk(method)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == "content" and isinstance(value, ast.Constant)
    ]
    if len(found) != 1 or not isinstance(found[0], str):
        raise ValueError(f"{method.name} has {len(found)} messages that are written out")
    return found[0]


def _filled(pieces: Pieces, values: Mapping[str, str]) -> str:
    return "".join(values[part] if is_field else part for is_field, part in pieces)

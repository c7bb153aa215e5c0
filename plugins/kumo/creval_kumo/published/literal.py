"""Read assignments of plain Python data (`Truths = [...]`) from text that must not be executed.

Each statement is passed to `ast.literal_eval` after a check that its size and the depth of its brackets are small. In
addition, `set([...])` and the constants `true` and `false` are accepted. Everything else is refused with its line.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["Data", "IncompleteText", "LiteralError", "read_assignments", "read_value"]

MAX_CHARACTERS = 2_000_000
MAX_DEPTH = 12

_PIECE = re.compile(
    r"""
    (?P<long>'''|\"\"\")
  | (?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
  | (?P<torn>['"])
  | (?P<skipped>\#[^\n]*|\\\r?\n)
  | (?P<opening>[\[({])
  | (?P<closing>[\])}])
  | (?P<line>\n)
    """,
    re.VERBOSE | re.DOTALL,
)
_TORN_END = re.compile(r"(?:^|[=+\-\\,:])$|(?:^|=)\s*[^\W\d]\w*$|\d\.?[eE][+-]?$")
_CALLED = re.compile(r"[^\W\d]\w*$")
_CONSTANTS: Mapping[str, bool] = {"true": True, "false": False}


class LiteralError(ValueError):
    """The text is not plain data; `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


class IncompleteText(LiteralError):
    """The text is plain data, but it is truncated."""


class Statement(NamedTuple):
    """A logical line of the text, the number of its first line, and whether the text ends with it."""

    text: str
    line: int
    last: bool


def read_assignments(text: str, wanted: Sequence[str], data: Data | None = None) -> dict[str, Any]:
    """Return the values assigned to the names `wanted`; text after the last of them is ignored.

    `data` defines which other forms are read. Raises IncompleteText if the text ends too early, LiteralError if it
    is anything other than assignments of plain data.
    """
    data = data or Data()
    line = 1
    for statement in _statements(text):
        line = statement.line
        target, value = _assignment(statement, wanted[0])
        if target in data.names:
            raise LiteralError(f"{target} is assigned twice", line)
        data.names[target] = data.read(value, statement)
        if all(name in data.names for name in wanted):
            return {name: data.names[name] for name in wanted}
    missing = next(name for name in wanted if name not in data.names)
    raise IncompleteText(f"the text ends before {missing} is assigned", line)


def read_value(text: str) -> Any:
    """Return the one value that the text begins with. Raises as `read_assignments` does."""
    statement = next(_statements(text, one_value=True), None)
    if statement is None:
        raise IncompleteText("the text ends before a value", 1)
    return Data().read(_parsed(f"({statement.text}\n)", statement, ast.Expr).value, statement)


class Data(ast.NodeTransformer):
    """Turns a syntax tree into one that `ast.literal_eval` reads, or refuses it. `names` holds what was assigned."""

    repeated_keys = False
    """Whether a later value of a key may replace the earlier one, as in Python."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}

    def read(self, node: ast.expr, statement: Statement) -> Any:
        """Return the value of a node. Raises LiteralError if it is not plain data."""
        try:
            return ast.literal_eval(self.visit(node))
        except (ValueError, TypeError, RecursionError, MemoryError) as error:
            raise _refusal(statement, f"no plain value: {str(error) or type(error).__name__}") from error

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Accept text, numbers, True, False and None."""
        if not isinstance(node.value, str | int | float | None):
            raise ValueError(f"{node.value!r} is not read")
        if isinstance(node.value, str):
            node.value.encode()  # a lone surrogate is a ValueError
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Convert the constants of JSON."""
        if node.id not in _CONSTANTS:
            raise ValueError(f"the name {node.id!r} is not read")
        return ast.Constant(_CONSTANTS[node.id])

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Refuse a sum, which literal_eval would read as a complex number."""
        raise ValueError("arithmetic is not read")

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Convert `set()` and `set([...])`."""
        if not (isinstance(node.func, ast.Name) and node.func.id == "set" and not node.keywords and len(node.args) < 2):
            raise ValueError("calls are not read")
        if not node.args:
            return node
        inner = self.visit(node.args[0])
        if not isinstance(inner, ast.List | ast.Tuple | ast.Set):
            raise ValueError("set(...) takes a list, a tuple or a set")
        return ast.Set(inner.elts) if inner.elts else ast.Call(node.func, [], [])

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        """Check that the keys of a dictionary differ."""
        if None in node.keys:
            raise ValueError("** is not read")
        keys = [repr(key.value) for key in node.keys if isinstance(key, ast.Constant)]
        if not self.repeated_keys and len(set(keys)) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            raise ValueError(f"the key {twice} is there twice")
        return self.generic_visit(node)  # type: ignore[return-value]


def _assignment(statement: Statement, example: str) -> tuple[str, ast.expr]:
    node = _parsed(statement.text, statement, ast.stmt)
    if not isinstance(node, ast.Assign) or not all(isinstance(target, ast.Name) for target in node.targets):
        raise _refusal(statement, f"expected an assignment such as {example} = ..., found {statement.text[:40]!r}")
    first = node.targets[0]
    assert isinstance(first, ast.Name)
    return first.id, node.value


def _parsed(text: str, statement: Statement, kind: type[Any]) -> Any:
    """Return the one node of a text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ignore unknown escapes in the text
            body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _refusal(statement, f"no Python data: {getattr(error, 'msg', None) or type(error).__name__}") from error
    if len(body) != 1 or not isinstance(body[0], kind):
        raise _refusal(statement, f"expected one value, found {statement.text[:40]!r}")
    return body[0]


def _refusal(statement: Statement, message: str) -> LiteralError:
    """Return the error of a statement: IncompleteText if the text ends inside it."""
    code = re.sub(r"#[^\n]*$", "", statement.text).rstrip()
    torn = statement.last and _TORN_END.search(code) is not None
    return (IncompleteText if torn else LiteralError)(message, statement.line)


def _statements(text: str, one_value: bool = False) -> Iterator[Statement]:
    """Yield the logical lines; with `one_value`, up to the bracket that closes the first opening bracket."""
    if len(text) > MAX_CHARACTERS:
        raise LiteralError(f"the text is longer than {MAX_CHARACTERS} characters", 1)
    start, depth, line = 0, 0, 1
    for piece in _PIECE.finditer(text):
        here = line + text.count("\n", start, piece.start())
        if piece["long"]:
            raise LiteralError("strings in three quotation marks are not read", here)
        if piece["torn"]:
            if "\n" in text[piece.start() :]:
                raise LiteralError("a string has no end on its line", here)
            raise IncompleteText("the text breaks off inside a string", here)
        called = _CALLED.search(text, max(start, piece.start() - 40), piece.start()) if piece.group() == "(" else None
        if called and called[0] != "set":
            raise LiteralError(f"{called[0]}(...) is not read", here)
        depth += bool(piece["opening"]) - bool(piece["closing"])
        if depth > MAX_DEPTH:
            raise LiteralError(f"more than {MAX_DEPTH} brackets inside each other", here)
        if depth < 0:
            raise LiteralError(f"unexpected {piece.group()!r}", here)
        closed = one_value and piece["closing"] and not depth
        if closed or (piece["line"] and not depth):
            statement = text[start : piece.end()].strip()
            if statement and not statement.startswith("#"):
                yield Statement(statement, line, last=False)
            line += text.count("\n", start, piece.end())
            start = piece.end()
    if depth:
        raise IncompleteText("the text breaks off inside brackets", line + text.count("\n", start))
    if (rest := text[start:].strip()) and not rest.startswith("#"):
        yield Statement(rest, line, last=True)

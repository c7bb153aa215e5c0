"""Reads assignments of plain Python data (`Truths = [...]`) out of text that nobody may execute.

Understood are strings, numbers, True, False, None, lists, tuples, dictionaries, sets (`{...}`, `set()`, `set([...])`),
comments, and assignments of these to names. Everything else is refused with its line. No part of Python's own parser or
compiler sees the text; size, depth and number of values are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["IncompleteText", "LiteralError", "Reader", "read_assignments", "read_value"]

MAX_CHARACTERS = 2_000_000
MAX_DEPTH = 12
MAX_VALUES = 100_000

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\f]+|\\\r?\n|\#[^\n]*)
  | (?P<line>\n)
  | (?P<string>'[^'\\\n]*(?:\\.[^'\\\n]*)*'|"[^"\\\n]*(?:\\.[^"\\\n]*)*")
  | (?P<number>(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?)
  | (?P<name>[^\W\d]\w*)
  | (?P<sign>[\[\](){}:,=+-])
    """,
    re.VERBOSE | re.DOTALL,
)
_EXPONENT = re.compile(r"[eE][+-]?")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "\n": "", "0": "\0"}
_CONSTANTS: Mapping[str, object] = {"True": True, "False": False, "None": None, "true": True, "false": False}
_CLOSING = {"[": "]", "(": ")", "{": "}"}


class LiteralError(ValueError):
    """The text is not plain data; `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


class IncompleteText(LiteralError):
    """The text is plain data as far as it goes, but it breaks off."""


class Token(NamedTuple):
    """A piece of the text: `kind` is string, number, name, sign, line or end."""

    kind: str
    text: str
    line: int


def read_assignments(text: str, wanted: Sequence[str]) -> dict[str, Any]:
    """Return the values assigned to the names `wanted`; whatever follows the last of them is not looked at.

    Sets become frozensets. Raises IncompleteText where the text ends too early, LiteralError where it is anything
    else than assignments of plain data.
    """
    return Reader(text).assignments(wanted)


def read_value(text: str) -> Any:
    """Return the one value that the text begins with. Raises as `read_assignments` does."""
    reader = Reader(text)
    reader.skip_lines()
    return reader.value(0)


class Reader:
    """Recursive descent over the tokens; a subclass may understand more (`other_value`)."""

    doubled_keys = False
    """Whether a later value of a key may replace the earlier one, as in Python."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_CHARACTERS:
            raise LiteralError(f"the text is longer than {MAX_CHARACTERS} characters", 1)
        self._tokens = _tokens(text)
        self._ahead: list[Token] = []
        self._values = 0
        self.names: dict[str, Any] = {}

    def assignments(self, wanted: Sequence[str]) -> dict[str, Any]:
        """See `read_assignments`."""
        while not all(name in self.names for name in wanted):
            self.skip_lines()
            token = self.next()
            if token.kind == "end":
                missing = [name for name in wanted if name not in self.names]
                raise IncompleteText(f"the text ends before {missing[0]} is assigned", token.line)
            if token.kind == "name" and self.peek().kind == "end":
                raise IncompleteText(f"the text breaks off after {token.text}", token.line)
            if token.kind != "name" or self.peek().text != "=":
                raise LiteralError(
                    f"expected an assignment such as {wanted[0]} = ..., found {token.text!r}", token.line
                )
            self.next()
            if token.text in self.names:
                raise LiteralError(f"{token.text} is assigned twice", token.line)
            self.names[token.text] = self.value(0)
            self._end_of_statement()
        return {name: self.names[name] for name in wanted}

    def value(self, depth: int) -> Any:
        """Read one value."""
        token = self.next()
        self._values += 1
        if depth > MAX_DEPTH:
            raise LiteralError(f"more than {MAX_DEPTH} brackets inside each other", token.line)
        if self._values > MAX_VALUES:
            raise LiteralError(f"more than {MAX_VALUES} values", token.line)
        if token.kind == "string":
            return self._strings(token)
        if token.kind == "number" or token.text in ("-", "+"):
            return self._number(token)
        if token.kind == "sign" and token.text in _CLOSING:
            return self.collection(token, depth + 1)
        if token.text in _CONSTANTS and token.kind == "name":
            return _CONSTANTS[token.text]
        if token.kind == "name" and token.text == "set" and self.peek().text == "(":
            return self._set_call(depth + 1)
        return self.other_value(token, depth)

    def other_value(self, token: Token, depth: int) -> Any:
        """A value of another form: refused here."""
        if token.kind == "end" or (token.kind == "name" and self.peek().kind == "end"):
            raise IncompleteText("the text breaks off where a value is expected", token.line)
        raise LiteralError(f"{token.text!r} is no plain value; only strings, numbers and collections are", token.line)

    def collection(self, opening: Token, depth: int) -> Any:
        """Read what is inside brackets, the closing one included."""
        items: list[Any] = []
        pairs: dict[Any, Any] = {}
        comma = False
        while not self.accept(_CLOSING[opening.text]):
            start = self.peek()
            item = self.value(depth)
            if opening.text == "{" and not items and self.accept(":"):
                _hashable(item, start)
                if item in pairs and not self.doubled_keys:
                    raise LiteralError(f"the key {item!r} stands twice", start.line)
                pairs[item] = self.value(depth)
            elif pairs:
                raise self.expected(":")
            else:
                items.append(_hashable(item, start) if opening.text == "{" else item)
            comma = self.accept(",")
            if not comma and self.peek().text != _CLOSING[opening.text]:
                raise self.expected(f", or {_CLOSING[opening.text]}")
        if opening.text == "{":
            return frozenset(items) if items else pairs
        if opening.text == "[":
            return items
        return items[0] if len(items) == 1 and not comma else tuple(items)

    def _set_call(self, depth: int) -> frozenset[Any]:
        self.next()
        if self.accept(")"):
            return frozenset()
        start = self.peek()
        inner = self.value(depth)
        if not self.accept(")"):
            raise self.expected(")")
        if not isinstance(inner, list | tuple | frozenset):
            raise LiteralError("set(...) takes a list, a tuple or a set", start.line)
        return frozenset(_hashable(item, start) for item in inner)

    def _strings(self, token: Token) -> str:
        """A string, with those that follow it directly (Python joins them)."""
        parts = [_unescaped(token)]
        while self.peek().kind == "string":
            parts.append(_unescaped(self.next()))
        return "".join(parts)

    def _number(self, token: Token) -> int | float:
        sign = 1
        if token.kind == "sign":
            sign = -1 if token.text == "-" else 1
            token = self.next()
            if token.kind == "end":
                raise IncompleteText("the text breaks off inside a number", token.line)
            if token.kind != "number":
                raise LiteralError(f"expected a number, found {token.text!r}", token.line)
        text = token.text.replace("_", "")
        try:
            return sign * (int(text) if text.isdigit() and len(text) < 20 else float(text))
        except ValueError:
            raise LiteralError(f"{token.text!r} is no number", token.line) from None

    def skip_lines(self) -> None:
        """Pass over empty lines between statements."""
        while self._raw_peek().kind == "line":
            self._raw_next()

    def _end_of_statement(self) -> None:
        token = self._raw_peek()
        if token.kind not in ("line", "end"):
            raise LiteralError(f"expected the end of the line, found {token.text!r}", token.line)

    def accept(self, sign: str) -> bool:
        """Take the next token if it is this sign."""
        token = self.peek()
        if token.kind == "sign" and token.text == sign:
            self.next()
            return True
        return False

    def expected(self, what: str) -> LiteralError:
        """The error of a missing sign, IncompleteText where the text is over."""
        token = self.peek()
        if token.kind == "end":
            return IncompleteText(f"the text breaks off where {what} is expected", token.line)
        return LiteralError(f"expected {what}, found {token.text!r}", token.line)

    def next(self) -> Token:
        """Take the next token that is no line break."""
        self.skip_lines()
        return self._raw_next()

    def peek(self) -> Token:
        """Look at it."""
        self.skip_lines()
        return self._raw_peek()

    def _raw_next(self) -> Token:
        return self._ahead.pop() if self._ahead else next(self._tokens)

    def _raw_peek(self) -> Token:
        if not self._ahead:
            self._ahead.append(next(self._tokens))
        return self._ahead[-1]


def _tokens(text: str) -> Iterator[Token]:
    place, line = 0, 1
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise _bad_character(text, place, line)
        kind = str(found.lastgroup)
        if kind == "string" and len(found.group()) == 2 and text[found.end() : found.end() + 1] == found.group()[0]:
            raise LiteralError("strings in three quotation marks are not understood", line)
        if kind == "number" and _EXPONENT.fullmatch(text, found.end()):
            raise IncompleteText("the text breaks off inside a number", line)
        if kind == "number" and text[found.end() : found.end() + 1].isalnum():
            raise LiteralError(f"{text[place : found.end() + 1]!r} is no number", line)
        if kind != "space":
            yield Token(kind, found.group(), line)
        line += found.group().count("\n")
        place = found.end()
    while True:
        yield Token("end", "", line)


def _bad_character(text: str, place: int, line: int) -> LiteralError:
    """A string without an end on the last line breaks off; anything else is wrong."""
    if text[place] in "'\"":
        if "\n" not in text[place:]:
            return IncompleteText("the text breaks off inside a string", line)
        return LiteralError("a string has no end on its line", line)
    return LiteralError(f"unexpected {text[place]!r}", line)


def _unescaped(token: Token) -> str:
    def replaced(found: re.Match[str]) -> str:
        code = found[1] or found[2] or found[3]
        if code:
            number = int(code, 16)
            if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
                raise LiteralError(f"{found[0]} is no character", token.line)
            return chr(number)
        if found[4] not in _ESCAPED:
            raise LiteralError(f"unknown escape {found[0]}", token.line)
        return _ESCAPED[found[4]]

    body = token.text[1:-1]
    return _ESCAPE.sub(replaced, body) if "\\" in body else body


def _hashable(value: Any, token: Token) -> Any:
    try:
        hash(value)
    except TypeError:
        raise LiteralError("a list or dictionary cannot be in a set or be a key", token.line) from None
    return value

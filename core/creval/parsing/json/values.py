"""Parsers `json_array` and `json_object`.

The value is searched in the whole answer, in code fences and in the prose; the first of these places with a fitting
value counts. Within a place the rule `choose` decides: `largest` (most items; among equals the last), `last` or
`first`. A pair of brackets that is not JSON (`[see note 1]`) is skipped and does not hide the list that follows.

Faulty JSON is repaired (the route ends in `/repaired`) or is a failure: if it comes after the fitting values (before
them with `first`), it may be the value that was meant, and nothing is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from creval.format import counted
from creval.parsing.base import TextParser, not_text
from creval.parsing.json.scan import Found, json_places
from creval.parsing.refusal import refused, speaks_of_the_last
from creval.types.components import Parsed

__all__ = ["JsonArray", "JsonObject"]

_AROUND = re.compile(r"^[\W_]+|[\W_]+$")
_ITEM_TYPES: Mapping[str, tuple[type, ...]] = {"string": (str,), "number": (int, float), "object": (dict,)}


class _Fitting(NamedTuple):
    """A fitting value, and its index among the values found in its part of the answer."""

    value: Any
    at: int
    repaired: bool
    heading: str


class _Search(NamedTuple):
    """The result of a search through the places of an answer: fitting values, or a fault, or only a count."""

    place: str
    fitting: Sequence[_Fitting]
    fault: str | None
    seen: int


def _search(text: str, fitting_in: Callable[[Any], Iterator[Any]], choose: str) -> _Search:
    """Search the places of an answer, up to the first with a fitting value or a fault."""
    seen = 0
    for place, found in json_places(text):
        fitting = [
            _Fitting(value, index, each.repaired, each.heading)
            for index, each in enumerate(found)
            if each.fault is None
            for value in fitting_in(each.value)
        ]
        fault = _fault(found, fitting, choose)
        seen = max(seen, len(found))
        if fitting or fault:
            return _Search(place, fitting, fault, seen)
    return _Search("", (), None, seen)


def _fault(found: Sequence[Found], fitting: Sequence[_Fitting], choose: str) -> str | None:
    """Return the fault that makes it uncertain which value counts, if any."""
    if not fitting:
        doubtful: Sequence[Found] = found
    elif choose == "first":
        doubtful = found[: fitting[0].at]
    else:
        doubtful = found[fitting[-1].at + 1 :]
    return next((each.fault for each in doubtful if each.fault), None)


def _route(name: str, place: str, repaired: bool) -> str:
    return "/".join(filter(None, (name, place, "repaired" if repaired else "")))


class _Ambiguous(Exception):
    """One object has several lists that fit equally well."""


@dataclass(frozen=True)
class JsonArray(TextParser):
    """The JSON array in an answer.

    `items`: only arrays all of whose items are of this type count (`any`, `string`, `number`, `object`).
    `minimum`: only arrays with at least this many items count. `choose`: see the module.

    With `largest`, an array that the line before it calls final wins over the others. In an object the array is the
    member `key`, in any letter case and at any depth; without a `key`, or without such a member, the only array that
    fits. Several are a failure, except that `largest` without a `key` takes one that is larger than all others, and
    `first` and `last` take those of the object. `field`: of an array of objects the texts of this field are the items
    (an item that is a text stays as it is). An array that contains only an array or an object is opened.
    """

    items: Literal["any", "string", "number", "object"] = "any"
    minimum: int = 1
    choose: Literal["largest", "last", "first"] = "largest"
    key: str | None = None
    field: str | None = None

    spots_refusals: ClassVar[bool] = True

    def parse(self, text: Any) -> Parsed:
        if isinstance(text, list):
            taken = self.take(text)
            return Parsed.failure("the list does not fit") if taken is None else Parsed(taken, route="json_array")
        if not isinstance(text, str):
            return not_text(text)
        try:
            found = _search(text, self._fitting, self.choose)
        except _Ambiguous as error:
            return Parsed.failure(str(error))
        if found.fault:
            return Parsed.failure(found.fault)
        if found.fitting:
            chosen = self._choose(found.fitting)
            place = found.place or ("object" if self._is_object(text) else "")
            return Parsed(chosen.value, route=_route("json_array", place, chosen.repaired))
        if self.is_refusal(text):
            return refused()
        if not found.seen:
            return Parsed.failure("no JSON array in the answer")
        kind = "" if self.items == "any" else f" with only {self.items} items"
        return Parsed.failure(
            f"{counted(found.seen, 'JSON values')} in the answer, "
            f"no array{kind} of at least {counted(self.minimum, 'items')}"
        )

    def take(self, rows: list[Any]) -> list[Any] | None:
        """Return the items of a fitting array, else None."""
        if self.field is not None and any(isinstance(row, dict) for row in rows):
            rows = [self.called(row, self.field) if isinstance(row, dict) else row for row in rows]
            if not all(isinstance(row, str) for row in rows):
                return None
        if len(rows) < self.minimum:
            return None
        types = (object,) if self.items == "any" else _ITEM_TYPES[self.items]
        if self.items != "any" and not all(isinstance(row, types) and not isinstance(row, bool) for row in rows):
            return None
        return rows

    @staticmethod
    def called(row: Mapping[str, Any], name: str) -> Any:
        """Return an object's value under a name, else under the only name that differs just in letter case or signs."""
        if name in row:
            return row[name]
        alike = [member for each, member in row.items() if _plain_name(each) == _plain_name(name)]
        return alike[0] if len(alike) == 1 else None

    def _fitting(self, value: Any) -> Iterator[list[Any]]:
        """Yield the fitting array in a value of the answer (`first`, `last`: all in their order)."""
        while isinstance(value, list):
            taken = self.take(value)
            if taken is not None:
                yield taken
                return
            if len(value) != 1:
                return
            value = value[0]
        if isinstance(value, dict):
            yield from self._in_object(value)

    def _in_object(self, value: dict[str, Any]) -> Iterator[list[Any]]:
        if self.key is not None:
            called = [member for name, member in _members(value) if name == self.key] or [
                member for name, member in _members(value) if _plain_name(name) == _plain_name(self.key)
            ]
            if called:
                yield from self._fitting(called[0] if isinstance(called[0], list) else None)
                return
        lists = [taken for _, member in _members(value) if isinstance(member, list) for taken in self._fitting(member)]
        if len(lists) > 1 and self.key is None and self.choose == "largest":
            most = max(len(each) for each in lists)
            lists = [each for each in lists if len(each) == most]
        if len(lists) > 1 and (self.key is not None or self.choose == "largest"):
            named = f"none is called {self.key!r}" if self.key is not None else "no `key` says which one counts"
            raise _Ambiguous(f"an object in the answer holds {len(lists)} lists, and {named}")
        yield from lists

    def _is_object(self, text: str) -> bool:
        return text.lstrip().startswith("{")

    def _choose(self, fitting: Sequence[_Fitting]) -> _Fitting:
        if self.choose == "first":
            return fitting[0]
        if self.choose == "last":
            return fitting[-1]
        final = [each for each in fitting if speaks_of_the_last(each.heading)]
        if len(final) == 1:
            return final[0]
        most = max(len(each.value) for each in fitting)
        return [each for each in fitting if len(each.value) == most][-1]


def _plain_name(name: str) -> str:
    """Return the name of a member in lower case, without the spaces and signs around it."""
    return _AROUND.sub("", name).casefold()


def _members(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the members of an object by name, followed by those of objects inside it."""
    queue = [value]
    for node in queue:
        for name, member in node.items():
            yield name, member
            if isinstance(member, dict):
                queue.append(member)


@dataclass(frozen=True)
class JsonObject(TextParser):
    """The JSON object in an answer; the last one that has all `keys`, unless `choose` says `first`.

    `key` returns one value of it; a dot goes deeper (`answer.words`).
    """

    keys: Sequence[str] = ()
    key: str | None = None
    choose: Literal["last", "first"] = "last"

    def parse(self, text: Any) -> Parsed:
        if isinstance(text, dict):
            return self._finish(text, "", False) if self._fits(text) else Parsed.failure("the object lacks a key")
        if not isinstance(text, str):
            return not_text(text)
        found = _search(text, self._fitting, self.choose)
        if found.fault:
            return Parsed.failure(found.fault)
        if found.fitting:
            chosen = found.fitting[0 if self.choose == "first" else -1]
            return self._finish(chosen.value, found.place, chosen.repaired)
        if self.is_refusal(text):
            return refused()
        if not found.seen:
            return Parsed.failure("no JSON object in the answer")
        wanted = ", ".join(repr(key) for key in (*self.keys, *([self.key] if self.key else [])))
        return Parsed.failure(
            f"{counted(found.seen, 'JSON values')} in the answer, no object{f' with {wanted}' if wanted else ''}"
        )

    def _fitting(self, value: Any) -> Iterator[dict[str, Any]]:
        """Yield the outermost objects that fit."""
        stack = [value]
        while stack:
            node = stack.pop()
            if isinstance(node, list):
                stack.extend(reversed(node))
            elif isinstance(node, dict) and self._fits(node):
                yield node

    def _fits(self, value: Mapping[str, Any]) -> bool:
        return all(key in value for key in self.keys) and (self.key is None or _dig(value, self.key)[1])

    def _finish(self, value: dict[str, Any], place: str, repaired: bool) -> Parsed:
        return Parsed(
            value if self.key is None else _dig(value, self.key)[0], route=_route("json_object", place, repaired)
        )


def _dig(value: Any, path: str) -> tuple[Any, bool]:
    """Follow a dotted path; return the value there and whether there is one."""
    for part in path.split("."):
        if not isinstance(value, dict) or part not in value:
            return None, False
        value = value[part]
    return value, True

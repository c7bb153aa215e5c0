"""Parsers `json_array` and `json_object`.

Where the value is looked for, first place that holds a fitting one: the whole answer; code fences; the prose.
Within a place the rule `choose` decides: `largest` (most items; among equals the last), `last` or `first`. A
bracket pair that is no JSON (`[see note 1]`) is passed over; it never hides the list that follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from creval.parsing.base import Extractor, not_text
from creval.parsing.json_scan import decode_whole, fenced_parts, find_json, find_quoted_lists, nested_lists
from creval.types.components import Parsed

__all__ = ["JsonArray", "JsonObject"]

T = TypeVar("T")
Places = Iterable[tuple[str, Iterable[T]]]
"""The places of an answer in the order they are tried, each with its name and the values that stand there."""

_ITEM_TYPES: Mapping[str, tuple[type, ...]] = {"string": (str,), "number": (int, float), "object": (dict,)}


def _first_fitting(places: Places[T], fits: Callable[[T], bool]) -> tuple[str, list[T], int]:
    """Return (place, values that fit, most values seen in a place) of the first place where any value fits."""
    seen = 0
    for place, candidates in places:
        found = list(candidates)
        seen = max(seen, len(found))
        fitting = [value for value in found if fits(value)]
        if fitting:
            return place, fitting, seen
    return "", [], seen


@dataclass(frozen=True)
class JsonArray(Extractor):
    """The JSON array in an answer.

    `items`: only arrays all of whose items are of this type count (`any`, `string`, `number`, `object`).
    `minimum`: only arrays with at least so many items count. `choose`: see the module. Where no array is valid
    JSON, flat lists in single or typographic quotes are read as well (route `quoted`). An array that doesn't
    fit is opened: a fitting list inside it, or inside an object, counts.
    """

    items: Literal["any", "string", "number", "object"] = "any"
    minimum: int = 1
    choose: Literal["largest", "last", "first"] = "largest"

    def parse(self, text: Any) -> Parsed:
        if isinstance(text, list):
            return Parsed(text, route="json_array") if self._fits(text) else Parsed.failure("the list does not fit")
        if not isinstance(text, str):
            return not_text(text)
        branch, fitting, seen = _first_fitting(self._places(text), self._fits)
        if fitting:
            return Parsed(self._choose(fitting), route=f"json_array/{branch}" if branch else "json_array")
        if not seen:
            return Parsed.failure("no JSON array in the answer")
        kind = "" if self.items == "any" else f" with only {self.items} items"
        return Parsed.failure(f"{seen} arrays in the answer, none{kind} of at least {self.minimum} items")

    def _places(self, text: str) -> Places[list[Any]]:
        stripped = text.strip()
        whole = decode_whole(stripped)
        if whole is not None:
            yield ("" if isinstance(whole, list) else "object"), self._open([whole])
            return
        fences = fenced_parts(text)
        yield "fenced", self._open(found.value for part in fences for found in find_json(part, "["))
        yield "embedded", self._open(found.value for found in find_json(text, "["))
        yield "quoted", (found.value for part in (*fences, text) for found in find_quoted_lists(part))

    def _open(self, values: Iterable[Any]) -> Iterable[list[Any]]:
        """Yield the arrays themselves; for one that does not fit, the lists inside it too."""
        for value in values:
            if isinstance(value, list) and self._fits(value):
                yield value
            else:
                yield from nested_lists(value)

    def _fits(self, value: Sequence[Any]) -> bool:
        if len(value) < self.minimum:
            return False
        if self.items == "any":
            return True
        types = _ITEM_TYPES[self.items]
        return all(isinstance(item, types) and not isinstance(item, bool) for item in value)

    def _choose(self, fitting: Sequence[list[Any]]) -> list[Any]:
        if self.choose == "first":
            return fitting[0]
        if self.choose == "last":
            return fitting[-1]
        most = max(len(value) for value in fitting)
        return [value for value in fitting if len(value) == most][-1]


@dataclass(frozen=True)
class JsonObject(Extractor):
    """The JSON object in an answer; the last one that has all `keys`, unless `choose` says `first`.

    `key` returns one value of it; a dot goes deeper (`answer.words`).
    """

    keys: Sequence[str] = ()
    key: str | None = None
    choose: Literal["last", "first"] = "last"

    def parse(self, text: Any) -> Parsed:
        if isinstance(text, dict):
            return self._finish(text, "") if self._fits(text) else Parsed.failure("the object lacks a key")
        if not isinstance(text, str):
            return not_text(text)
        branch, fitting, seen = _first_fitting(self._places(text), self._fits)
        if fitting:
            return self._finish(fitting[0] if self.choose == "first" else fitting[-1], branch)
        if not seen:
            return Parsed.failure("no JSON object in the answer")
        wanted = ", ".join(repr(key) for key in (*self.keys, *([self.key] if self.key else [])))
        return Parsed.failure(f"{seen} JSON objects in the answer, none with {wanted}")

    def _places(self, text: str) -> Places[dict[str, Any]]:
        whole = decode_whole(text.strip())
        if isinstance(whole, dict):
            yield "", [whole]
        fences = fenced_parts(text)
        yield "fenced", (found.value for part in fences for found in find_json(part, "{"))
        yield "embedded", (found.value for found in find_json(text, "{"))

    def _fits(self, value: Mapping[str, Any]) -> bool:
        return all(key in value for key in self.keys) and (self.key is None or _dig(value, self.key)[1])

    def _finish(self, value: dict[str, Any], branch: str) -> Parsed:
        route = f"json_object/{branch}" if branch else "json_object"
        return Parsed(value if self.key is None else _dig(value, self.key)[0], route=route)


def _dig(value: Any, path: str) -> tuple[Any, bool]:
    """Follow a dotted path; return what is there and whether anything is."""
    for part in path.split("."):
        if not isinstance(value, dict) or part not in value:
            return None, False
        value = value[part]
    return value, True

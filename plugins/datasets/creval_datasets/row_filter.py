"""Which rows of a data set are taken: `where` under `dataset`, simple comparisons of single fields.

where: {language: en, kind: [essay, story], year: {min: 2000, below: 2020}, text: {not: ""}}
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from creval.plugin import DataError
from creval.plugin.encoders import brief, names_of

__all__ = ["RowFilter"]

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "min": operator.ge,
    "above": operator.gt,
    "max": operator.le,
    "below": operator.lt,
}


class RowFilter:
    """Takes the rows for which every condition of `where` holds."""

    def __init__(self, where: Mapping[str, Any], origin: str) -> None:
        self._conditions = {name: _rules(said) for name, said in where.items()}
        self._origin = origin

    def __call__(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is taken. Raises DataError for a field that it lacks, or that cannot be compared."""
        for name, rules in self._conditions.items():
            if name not in row:
                what = f"`where` names the field {name!r}, which the data do not have; there are {names_of(row)}"
                raise DataError(what, where=self._origin, fix="Correct `where` under `dataset`.")
            if not all(self._holds(name, row[name], rule, wanted) for rule, wanted in rules):
                return False
        return True

    def _holds(self, name: str, value: Any, rule: str, wanted: Any) -> bool:
        if rule in ("in", "not_in"):
            return any(_equal(value, each) for each in wanted) == (rule == "in")
        if value is None:
            return False
        if isinstance(value, str) != isinstance(wanted, str) or isinstance(value, bool | list | dict):
            what = f"`where` compares the field {name!r}, {brief(value)}, with {brief(wanted)} ({rule})"
            raise DataError(what, where=self._origin, fix="Compare numbers with numbers and texts with texts.")
        return bool(_ORDERS[rule](value, wanted))


def _rules(said: Any) -> Sequence[tuple[str, Any]]:
    if isinstance(said, list):
        return [("in", said)]
    if not isinstance(said, Mapping):
        return [("in", [said])]
    return [("not_in", [wanted]) if rule == "not" else (rule, wanted) for rule, wanted in said.items()]


def _equal(value: Any, wanted: Any) -> bool:
    return bool(value == wanted) and isinstance(value, bool) == isinstance(wanted, bool)

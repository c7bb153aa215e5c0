"""Selects rows of a source and their fields: `where`, `columns` and `take` under `dataset`.

where: {language: en, kind: [essay, story], year: {min: 2000, below: 2020}, text: {not: ""}}
"""

from __future__ import annotations

import itertools
import operator
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from creval.data.row_types import MalformedRow, Row, Rows
from creval.data.shaping import field_at, names_of, shortened
from creval.errors import DataError, nearest
from creval.format import counted
from creval.numerals import number_of, read_numeral
from creval.types.sample import Doc

__all__ = ["RowFilter", "SelectedRows", "renamed"]

_ROWS_SEARCHED = 10_000
"""The most rows that are searched for a value similar to a misspelt one of `where`."""
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "min": operator.ge,
    "above": operator.gt,
    "max": operator.le,
    "below": operator.lt,
}


class RowFilter:
    """Selects the rows that satisfy every condition of `where`. A text (e.g. of CSV) is read as a number or truth value
    if it is compared with one.
    """

    def __init__(self, where: Mapping[str, Any], origin: str) -> None:
        self._conditions = {name: _rules(said) for name, said in where.items()}
        self._origin = origin

    def __call__(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is selected. Raises DataError for a field that is missing or cannot be compared."""
        for name, rules in self._conditions.items():
            try:
                value = field_at(row, name)
            except ValueError:
                near = nearest(name, row)
                what = f"`where` names the field {name!r}, which the data do not have; they have {names_of(row)}"
                fix = f"Did you mean {near[0]!r}?" if near else "Correct `where` under `dataset`."
                raise DataError(what, where=self._origin, fix=fix) from None
            if not all(self._is_met(name, value, rule, wanted) for rule, wanted in rules):
                return False
        return True

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the fields that must equal a text, each with the text."""
        for name, rules in self._conditions.items():
            for rule, wanted in rules:
                yield from ((name, each) for each in wanted if isinstance(each, str)) if rule == "in" else ()

    def _is_met(self, name: str, value: Any, rule: str, operand: Any) -> bool:
        if rule in ("in", "not_in"):
            return any(_equal(value, each) for each in operand) == (rule == "in")
        value = _converted_like(value, operand)
        if value is None:
            return False
        if isinstance(value, str) != isinstance(operand, str) or isinstance(value, bool | list | dict):
            what = f"`where` compares the field {name!r}, {shortened(value)}, with {shortened(operand)} ({rule})"
            raise DataError(what, where=self._origin, fix="Compare numbers with numbers and texts with texts.")
        return bool(_ORDERS[rule](value, operand))


def _rules(condition: Any) -> Sequence[tuple[str, Any]]:
    if isinstance(condition, list):
        return [("in", condition)]
    if not isinstance(condition, Mapping):
        return [("in", [condition])]
    return [("not_in", [operand]) if rule == "not" else (rule, operand) for rule, operand in condition.items()]


def _converted_like(value: Any, operand: Any) -> Any:
    """Return a text as a number or truth value if it is compared with one, else unchanged."""
    if not isinstance(value, str) or isinstance(operand, str) or operand is None:
        return value
    if isinstance(operand, bool):
        return {"true": True, "false": False}.get(value.strip().casefold(), value)
    try:
        return number_of(read_numeral(value).value)
    except ValueError:
        return None if not value.strip() else value


def _equal(value: Any, operand: Any) -> bool:
    value = _converted_like(value, operand)
    return bool(value == operand) and isinstance(value, bool) == isinstance(operand, bool)


def renamed(columns: Sequence[str] | Mapping[str, str]) -> Mapping[str, str]:
    """Return the selected columns: the name in the docs, and that in the data."""
    return columns if isinstance(columns, Mapping) else {name: name for name in columns}


class SelectedRows:
    """The rows of a source that match `where`, the first `take` of them, with only the `columns` under their new names.

    A field that only some rows have counts as null in the others. Raises DataError for a field that no row has, and if
    no row matches.
    """

    def __init__(
        self,
        rows: Rows,
        where: Mapping[str, Any] | None = None,
        columns: Sequence[str] | Mapping[str, str] | None = None,
        take: int | None = None,
    ) -> None:
        self._rows, self._take = rows, take
        self._columns = None if columns is None else renamed(columns)
        self._names = tuple(where or {})
        self._fits = RowFilter(where or {}, rows.origin)
        self.origin = rows.origin
        self.is_json = bool(getattr(rows, "is_json", False))
        self.file = getattr(rows, "file", None)
        self._places = self._chosen()

    def _chosen(self) -> Sequence[int]:
        places, field_names, present_names = array("q"), dict[str, None](), set[str]()
        for index, row in enumerate(self._rows):
            if isinstance(row, MalformedRow):
                places.append(index)
                continue
            fields = row.fields if isinstance(row, Doc) else row
            if not field_names.keys() >= fields.keys():
                field_names |= dict.fromkeys(fields)
            values = dict(_present(fields, self._names))
            present_names.update(values)
            if self._fits(dict.fromkeys(self._names) | values):
                places.append(index)
            if self._take is not None and len(places) == self._take:
                break
        self._check({*self._names} - present_names, field_names, "where")
        self._check({*(self._columns or {}).values()} - field_names.keys(), field_names, "columns")
        if not places:
            what = f"none of the {counted(len(self._rows), 'rows')} fits `where` under `dataset`{self._near_value()}"
            raise DataError(what, where=self.origin, fix="Correct `where`, or the data.")
        return places

    def _near_value(self) -> str:
        """Return which text of `where` is in no row, and the most similar one; empty if there is none."""
        for name, wanted in self._fits.texts():
            values = dict.fromkeys(
                value
                for row in itertools.islice(self._rows, _ROWS_SEARCHED)
                if not isinstance(row, MalformedRow)
                for _, value in _present(row.fields if isinstance(row, Doc) else row, (name,))
                if isinstance(value, str)
            )
            near = nearest(wanted, values) if wanted not in values else ()
            if near:
                return f": {name!r} is never {wanted!r} (did you mean {near[0]!r}?)"
        return ""

    def _check(self, missing: set[str], known: Mapping[str, Any], key: str) -> None:
        for name in sorted(missing):
            near = nearest(name, known)
            what = f"`{key}` names the field {name!r}, which the data do not have; they have {names_of(known)}"
            fix = f"Did you mean {near[0]!r}?" if near else f"Correct `{key}` under `dataset`."
            raise DataError(what, where=self.origin, fix=fix)

    def _selected_columns(self, row: Row) -> Row:
        if self._columns is None:
            return row
        fields = row.fields if isinstance(row, Doc) else row
        kept = {new: fields[old] for new, old in self._columns.items() if old in fields}
        return Doc(row.id, kept) if isinstance(row, Doc) else kept

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Row | MalformedRow]:
        chosen = iter(self._places)
        wanted = next(chosen, None)
        for index, row in enumerate(self._rows):
            if index == wanted:
                yield row if isinstance(row, MalformedRow) else self._selected_columns(row)
                wanted = next(chosen, None)
            if wanted is None:
                return

    def row(self, index: int) -> Row:
        """Return one row."""
        return self._selected_columns(self._rows.row(self._places[index]))

    def where(self, index: int) -> str:
        """Return the place of a row."""
        return self._rows.where(self._places[index])

    def close(self) -> None:
        """Release files."""
        self._rows.close()


def _present(fields: Mapping[str, Any], names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield those of the named fields that a row has."""
    for name in names:
        with suppress(ValueError):
            yield name, field_at(fields, name)

"""Rows, the input of a dataset. A source returns rows; `creval.data.dataset` makes docs from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from creval.types.sample import Doc

__all__ = ["ListRows", "MalformedRow", "Row", "Rows"]


@dataclass(frozen=True, slots=True)
class MalformedRow:
    """A row that cannot be read: the reason and the place (`file:line`)."""

    reason: str
    where: str


Row = Mapping[str, Any] | Doc
"""The fields of a doc, or a whole doc if the source has its own ids."""


@runtime_checkable
class Rows(Protocol):
    """What the factory of a component of kind `source` returns.

    Iteration goes over all rows in order and yields a `MalformedRow` for one that cannot be read; it never raises for
    a single row. `row` reads one valid row whenever it is needed: rows need not be in memory.
    """

    @property
    def origin(self) -> str:
        """Where the rows come from, for messages and the run's manifest."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Row | MalformedRow]: ...

    def row(self, index: int) -> Row:
        """Return one row."""

    def where(self, index: int) -> str:
        """Return the place of a row: `file:line`."""

    def close(self) -> None:
        """Release files."""


class ListRows:
    """Rows in memory."""

    def __init__(self, rows: Sequence[Row | MalformedRow], origin: str) -> None:
        self._rows = rows
        self.origin = origin

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row | MalformedRow]:
        return iter(self._rows)

    def row(self, index: int) -> Row:
        found = self._rows[index]
        assert not isinstance(found, MalformedRow), "a dataset with malformed rows is never handed out"
        return found

    def where(self, index: int) -> str:
        return f"{self.origin}, item {index + 1}"

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

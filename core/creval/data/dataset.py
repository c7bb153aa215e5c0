"""A dataset: docs with unique ids, read lazily, with a fingerprint of their content."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import orjson

from creval.data.few_shot import CANONICAL, SHOTS, ShotEntry, Shots, shared_value
from creval.data.row_types import MalformedRow, Row, Rows
from creval.data.row_values import InfiniteError, NoDataError, as_media, plain_value
from creval.data.shaping import Shaping, names_of, shortened
from creval.errors import DataError, nearest
from creval.format import counted
from creval.packed_keys import PackedTexts
from creval.tasks.task_model import FewShot
from creval.types.sample import Doc

__all__ = ["Dataset"]


_SHOWN = 10

_BLOCK = 1 << 16  # bytes

_TEXT = frozenset({str})

_LINE = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


class Dataset:
    """Docs made from rows. All rows are read once at the start to check them, and later again when needed.

    `fields` are the names of the fields of all docs, `optional_fields` of those that only some docs have. `fingerprint`
    is the sha256 (hex) over the docs' ids and fields as canonical JSON, one per line: it does not depend on the file
    format or the order of keys. `origin` says where the docs come from; `replaced` whether that is not the task's
    source. With `sample`, (number, seed), the dataset only has this number of docs, those whose ids come first in a
    shuffle by the seed, whatever the order of the rows and the file format; everything else describes the whole.
    `shaping` makes the task's fields from those of a row.
    """

    def __init__(
        self,
        rows: Rows,
        id_field: str | None = None,
        replaced: bool = False,
        sample: tuple[int, int] | None = None,
        shaping: Shaping | None = None,
    ) -> None:
        self._rows = rows
        self._shaping = shaping or Shaping()
        self._shots: Shots | None = None
        self._id_field = id_field
        self._is_json = bool(getattr(rows, "is_json", False))
        self._bare = self._is_json and self._shaping.bare  # a row's fields are those of its doc
        self.origin = rows.origin
        self.replaced = replaced
        self._left_out: dict[str, str] = {}
        scan = _Scan(self)
        try:
            scan.run()
        except BaseException:
            rows.close()
            raise
        self.fields: Sequence[str] = tuple(scan.common or ())
        self.optional_fields: Sequence[str] = tuple(name for name in scan.union if name not in self.fields)
        self.fingerprint: str = scan.digest.hexdigest()
        self._ids = scan.ids
        if sample is not None:  # other docs are other data
            self.fingerprint = hashlib.sha256(f"{self.fingerprint}:{sample[0]}:{sample[1]}".encode()).hexdigest()
        self._chosen: Sequence[int] = range(len(rows)) if sample is None else _choose(self, scan.ids, sample)

    def with_shots(self, few_shot: FewShot, pool: Dataset | None) -> Dataset:
        """Give each doc the examples of `few_shot`, from `pool` or (None) from all rows of this dataset.

        Raises DataError if a doc already has a field of that name, or if there are too few examples.
        """
        if SHOTS in (*self.fields, *self.optional_fields):
            raise DataError(f"the docs have a field {SHOTS!r}, where few_shot puts the examples", where=self.origin)
        source = pool or self
        places: dict[str, array[int]] = {}
        if few_shot.same is not None:
            for row in range(len(source.rows)):
                value = shared_value(source.entry(row).doc, few_shot.same, source.origin)
                places.setdefault(value, array("q")).append(row)
        drawing = (few_shot.number, few_shot.seed, len(source.rows), source.entry, pool is None, source.origin)
        self._shots = Shots(*drawing, few_shot.same, places)
        self.fields = (*self.fields, SHOTS)
        parts: list[Any] = [self.fingerprint, source.fingerprint, few_shot.number, few_shot.seed]
        parts += [] if few_shot.same is None else [few_shot.same]
        self.fingerprint = hashlib.sha256(CANONICAL.encode(parts).encode()).hexdigest()
        self._check_shots(few_shot.same)
        return self

    def _check_shots(self, same: str | None) -> None:
        """Draw examples once (for each value of `same`), to find out at once if there are too few."""
        seen: set[str] = set()
        for index in range(1 if same is None else len(self)):
            row = self._chosen[index]
            value = "" if same is None else shared_value(self.to_doc(self._rows.row(row), row), same, self.origin)
            if value not in seen:
                seen.add(value)
                self[index]

    def entry(self, row: int) -> ShotEntry:
        """Return the doc of a row, chosen or not, without examples, and the row's content without the id."""
        given = self._rows.row(row)
        content = given.fields if isinstance(given, Doc) else given
        return ShotEntry(
            self.to_doc(given, row), {key: value for key, value in content.items() if key != self._id_field}
        )

    def __len__(self) -> int:
        return len(self._chosen)

    def __getitem__(self, index: int) -> Doc:
        """Return a doc by its position from 0."""
        if not 0 <= index < len(self):
            raise IndexError(f"doc {index} of {len(self)}")
        row = self._chosen[index]
        if self._shots is None:
            return self.to_doc(self._rows.row(row), row)
        entry = self.entry(row)
        return Doc(entry.doc.id, {**entry.doc.fields, SHOTS: self._shots.of(entry)})

    @property
    def ids(self) -> Sequence[str]:
        """The docs' ids in order; reads no doc."""
        return self._ids if len(self._chosen) == len(self._ids) else [self._ids[row] for row in self._chosen]

    @property
    def known_ids(self) -> PackedTexts:
        """The ids of all docs in the data, chosen or not."""
        return self._ids

    def __iter__(self) -> Iterator[Doc]:
        if len(self._chosen) < len(self._rows) or self._shots is not None:
            yield from (self[index] for index in range(len(self)))
            return
        for index, row in enumerate(self._rows):
            if isinstance(row, MalformedRow):
                raise DataError(row.reason, where=row.where)
            yield self.to_doc(row, index)

    def position(self, doc_id: str) -> int:
        """Return the position of a doc, from 0, by its id. Raises DataError if there is none."""
        found = self.find(doc_id)
        if found is None:
            near = nearest(doc_id, self.ids)
            some = ", ".join(repr(self[index].id) for index in range(min(3, len(self))))
            fix = f"Did you mean {near[0]!r}?" if near else f"The ids of its docs are like these: {some}."
            raise DataError(f"there is no doc with the id {doc_id!r}", where=self.origin, fix=fix)
        return found

    def find(self, doc_id: str) -> int | None:
        """Return the position of a doc, from 0, by its id, or None."""
        row = self._ids.find(doc_id)
        if row < 0:
            return None
        if len(self._chosen) == len(self._ids):
            return row
        place = bisect_left(self._chosen, row)
        return place if place < len(self._chosen) and self._chosen[place] == row else None

    def by_id(self, doc_id: str) -> Doc:
        """Return a doc by its id. Raises DataError if there is none."""
        return self[self.position(doc_id)]

    def place(self, doc_id: str) -> str:
        """Return the place of a doc's row: `file:line`."""
        row = self._ids.find(doc_id)
        return self.origin if row < 0 else self._rows.where(row)

    def close(self) -> None:
        """Release files."""
        self._rows.close()

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def media_fields(self) -> Sequence[str]:
        """The fields that prompts take images, audio or files from."""
        return self._shaping.media

    @property
    def rows(self) -> Rows:
        return self._rows

    def to_doc(self, row: Row, index: int) -> Doc:
        """Return the doc of a row. Raises ValueError with the fault."""
        return Doc(*self.content(row, index))

    def content(self, row: Row, index: int) -> tuple[str, Mapping[str, Any]]:
        """Return id and fields of the doc of a row. Raises ValueError with the fault."""
        if self._bare and type(row) is dict:
            given = row.get(self._id_field)
            if type(given) is int or (type(given) is str and given):
                return str(given), row
        try:
            return self._shaped(row, index)
        except ValueError as error:
            raise ValueError(f"{error}{self.left_out}") from None if self.left_out else error

    @property
    def left_out(self) -> str:
        """Return a note on columns that are left out because their values cannot be used; empty if there are none."""
        said = ", ".join(f"{name!r} holds {kind}" for name, kind in self._left_out.items())
        return f" ({said}, and is left out)" if said else ""

    def _shaped(self, row: Row, index: int) -> tuple[str, Mapping[str, Any]]:
        if isinstance(row, Doc):
            given_fields = self._with_media(self._shaping.fields_of(self._plain_row(row.fields, index)))
            return row.id, self._shaping.choices_of(given_fields, row.id)
        # Rows that were JSON in their file are plain already, but for a number such as 1e400; see `expect_infinite`.
        fields: Mapping[str, Any] = row if self._is_json else self._plain_row(row, index)
        fields = self._with_media(self._shaping.fields_of(fields))
        if self._id_field is None:
            return str(index), self._shaping.choices_of(fields, str(index))
        given = fields.get(self._id_field)
        if given is None or given == "" or isinstance(given, bool) or not isinstance(given, str | int):
            if self._id_field not in fields:
                near = nearest(self._id_field, map(str, fields))
                hint = f" (did you mean {near[0]!r}?)" if near else ""
                raise ValueError(f"the id field {self._id_field!r} is missing{hint}; the row has {names_of(fields)}")
            what = "empty" if given is None else shortened(given)
            raise ValueError(f"the id field {self._id_field!r} is {what}; it must be a text or whole number")
        return str(given), self._shaping.choices_of(fields, str(given))

    def _with_media(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return fields with the media in place of their paths, addresses and data URLs. Raises ValueError."""
        names = [name for name in self._shaping.media if name in fields]
        if not names:
            return fields
        file = getattr(self._rows, "file", None)
        folder = file.parent if isinstance(file, Path) else None
        return {**fields, **{name: as_media(fields[name], folder) for name in names}}

    def expect_infinite(self) -> bool:
        """From now on search rows of JSON for infinite numbers too. Return False if that is already so."""
        before = self._is_json
        self._is_json = self._bare = False
        return before

    def _plain_row(self, row: Mapping[str, Any], index: int) -> Mapping[str, Any]:
        """Return the fields of a row as JSON data, without those that cannot be JSON data."""
        fields = {}
        for name, value in row.items():
            try:
                fields[str(name)] = plain_value(value, str(name))
            except InfiniteError as error:
                self._left_out.setdefault(str(name), f"{error} ({self._rows.where(index)})")
            except NoDataError as error:
                self._left_out[str(name)] = str(error)
        return fields


def _choose(dataset: Dataset, ids: Sequence[str], sample: tuple[int, int]) -> Sequence[int]:
    """Return the positions of the chosen docs, ascending."""
    number, seed = sample
    if number > len(ids):
        raise DataError(
            f"the task samples {counted(number, 'docs')}, but the data contain {len(ids):,}",
            where=dataset.origin,
            fix="Use all data, or a smaller number under dataset: sample.",
        )

    def rank(place: int) -> bytes:
        return hashlib.sha256(f"{seed}\x1f{ids[place]}".encode("utf-8", "surrogatepass")).digest()

    return array("q", sorted(sorted(range(len(ids)), key=rank)[:number]))


class _Scan:
    """The first reading of all rows."""

    def __init__(self, dataset: Dataset) -> None:
        self.digest = hashlib.sha256()
        self.common: dict[str, None] | None = None
        self.union: dict[str, None] = {}
        self._dataset = dataset
        self._faults: list[tuple[int, str]] = []
        self._readable = 0
        self.ids = PackedTexts()

    def run(self) -> None:
        rows, note = self._dataset.rows, self.ids.append
        block = bytearray()
        names: Set[str] = frozenset()
        for index, row in enumerate(rows):
            if isinstance(row, MalformedRow):
                self._faults.append((index, f"{row.where}: {row.reason}"))
                continue
            try:
                self._readable += 1
                doc_id, fields, line = self._read_doc(row, index)
            except ValueError as error:
                self._faults.append((index, f"{rows.where(index)}: {error}"))
                continue
            block += line
            note(doc_id)
            if fields.keys() != names:
                names = fields.keys()
                self._note_fields(fields)
            if len(block) > _BLOCK:
                self.digest.update(block)
                block.clear()
        self.digest.update(block)
        without = [index for index, _ in self._faults]  # rows that gave no id
        for number, first in self.ids.index_appended():
            again, before = _row_of(number, without), rows.where(_row_of(first, without))
            self._faults.append(
                (again, f"{rows.where(again)}: the id {shortened(self.ids[number])} is also at {before}")
            )
        if self._faults:
            self._refuse()
        if not self.ids:
            raise DataError("the dataset contains no docs", where=rows.origin)

    def _read_doc(self, row: Row, index: int) -> tuple[str, Mapping[str, Any], bytes]:
        doc_id, fields = self._dataset.content(row, index)
        try:
            return doc_id, fields, _canonical(doc_id, fields)
        except ValueError as error:
            if "Out of range float" not in str(error) or not self._dataset.expect_infinite():
                raise
        return self._read_doc(row, index)

    def _note_fields(self, fields: Mapping[str, Any]) -> None:
        if self.common is None:
            self.common = dict.fromkeys(fields)
        self.common = {name: None for name in self.common if name in fields}
        self.union.update(dict.fromkeys(fields))

    def _refuse(self) -> None:
        count = len(self._faults)
        faults = sorted(self._faults)
        reasons = {fault.removeprefix(self._dataset.rows.where(index)) for index, fault in faults}
        if len(reasons) == 1 and self._readable == count > 1:  # a fault of the task file, or of all rows: reported once
            what = f"{count} rows are faulty, the first at {faults[0][1]}"
            raise DataError(what, where=self._dataset.origin, fix="Correct the task file, or these rows.")
        shown = "\n".join(f"  {fault}" for _, fault in faults[:_SHOWN])
        more = count - _SHOWN
        rest = f"\n  and {more} more" if more > 0 else ""
        raise DataError(
            f"{count} row{'s are' if count > 1 else ' is'} faulty:\n{shown}{rest}",
            where=self._dataset.origin,
            fix="Correct these rows; no doc is left out silently.",
        )


def _canonical(doc_id: str, fields: Mapping[str, Any]) -> bytes:
    """Return a doc as a line of canonical JSON."""
    if _TEXT.issuperset(map(type, fields.values())):
        try:
            return orjson.dumps([doc_id, fields], option=_LINE)  # the same, but faster
        except (TypeError, ValueError):  # a lone surrogate, a key that is not a text
            pass
    return CANONICAL.encode([doc_id, fields]).encode("utf-8", "surrogatepass") + b"\n"


def _row_of(number: int, without: Sequence[int]) -> int:
    """Return the row with the id number `number`, if the rows in `without` (ascending) have no id."""
    row = number
    for other in without:
        if other > row:
            break
        row += 1
    return row

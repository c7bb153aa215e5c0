"""A dataset: docs with unique ids, read lazily, with the fingerprint of all that they hold.

Examples put before a question (few-shot), drawn for each doc by the seed; never the doc itself.
"""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from creval.data.media_values import HUB_MEDIA, as_media, hub_media, media_of
from creval.data.row_types import MalformedRow, Row, Rows
from creval.data.shaping import Shaping, brief, names_of
from creval.errors import DataError
from creval.packed_keys import PackedTexts
from creval.tasks.task_model import FewShot
from creval.types.content import Media
from creval.types.sample import Doc

__all__ = ["SHOTS", "Dataset"]


SHOTS = "shots"

"""The field that holds a doc's examples."""


class ShotEntry(NamedTuple):
    """A doc, and what its row says without the id: two docs of one content are copies of each other."""

    doc: Doc
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Shots:
    """Where examples come from: `size` docs, read by `entry`, of which each asked one gets `number`.

    Without a seed they are the first ones, in order, else those that seed and id of the asked doc draw. The asked doc
    is left out by its id where it is one of the pool (`own`), and by its content always: a copy of it would give the
    answer away as well. With `same` only the docs with the asked one's value of this field count (`places`).
    """

    number: int
    seed: int | None
    size: int
    entry: Callable[[int], ShotEntry]
    own: bool
    origin: str
    same: str | None = None
    places: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def of(self, asked: ShotEntry) -> list[Mapping[str, Any]]:
        """Return the fields of the examples of a doc. Raises DataError where there are not enough others."""
        chosen: list[Mapping[str, Any]] = []
        pool = range(self.size) if self.same is None else self.places.get(_value(asked.doc, self.same, self.origin), ())
        for place in self._drawn(pool, asked.doc.id):
            if len(chosen) == self.number:
                break
            other = self.entry(place)
            same = other.content == asked.content or (self.own and other.doc.id == asked.doc.id)
            if not same:
                chosen.append(other.doc.fields)
        if len(chosen) < self.number:
            alike = "" if self.same is None else f" with its {self.same} ({brief(asked.doc.fields[self.same])})"
            raise DataError(
                f"few_shot asks for {self.number} examples; beside the doc {asked.doc.id!r} there are "
                f"{len(chosen)}{alike}",
                where=self.origin,
                fix="Ask for fewer, or give more data.",
            )
        return chosen

    def _drawn(self, pool: Sequence[int], asked: str) -> Iterator[int]:
        """Yield every place once, in the order of the draw; few of many are found without ordering them all."""
        if self.seed is None:
            yield from pool
            return
        seen: set[int] = set()
        for draw in range(4 * len(pool)):
            if len(seen) == len(pool):
                return
            digest = hashlib.sha256(f"{self.seed}\x1f{asked}\x1f{draw}".encode("utf-8", "surrogatepass")).digest()
            place = int.from_bytes(digest[:8], "big") % len(pool)
            if place not in seen:
                seen.add(place)
                yield pool[place]
        yield from (pool[place] for place in range(len(pool)) if place not in seen)


def _value(doc: Doc, name: str, origin: str) -> str:
    """Return a doc's value of the field that its examples share with it. Raises DataError where it has none."""
    if name not in doc.fields:
        what = f"the doc {doc.id!r} lacks the field {name!r}, which its examples share with it"
        raise DataError(what, where=origin, fix=f"See few_shot: same. It has {names_of(doc.fields)}.")
    return _CANONICAL.encode(doc.fields[name])


_SHOWN = 10

_BLOCK = 1 << 16  # bytes

_TEXT = frozenset({str})

_LINE = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE

_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class Dataset:
    """Docs made of rows. All rows are read once at the start to check them; after that each when it is wanted.

    `fields` are the names of the fields that every doc has, `optional_fields` those that only some have.
    `fingerprint` is the sha256 (hex) over the docs' ids and fields as canonical JSON, one per line: it does not depend
    on the file format or the order of keys. `origin` says where the docs come from; `replaced` whether that is not
    where the task takes them from. With `sample`, (number, seed), only so many docs are there: those whose ids come
    first when they are shuffled by the seed, so that neither the order of the rows nor the file format matters; all
    the rest is said of the whole. `shaping` makes the task's fields of a row's.
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
        self._bare = self._is_json and self._shaping.bare  # the fields of a row are those of its doc
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
        """Give each doc the examples of `few_shot`, from `pool` or (None) from all of this dataset's own rows.

        Raises DataError where a doc has a field of that name already, or there are too few examples.
        """
        if SHOTS in (*self.fields, *self.optional_fields):
            raise DataError(f"the docs have a field {SHOTS!r}, where few_shot puts the examples", where=self.origin)
        source = pool or self
        places: dict[str, array[int]] = {}
        if few_shot.same is not None:
            for row in range(len(source.rows)):
                value = _value(source.entry(row).doc, few_shot.same, source.origin)
                places.setdefault(value, array("q")).append(row)
        drawing = (few_shot.number, few_shot.seed, len(source.rows), source.entry, pool is None, source.origin)
        self._shots = Shots(*drawing, few_shot.same, places)
        self.fields = (*self.fields, SHOTS)
        parts: list[Any] = [self.fingerprint, source.fingerprint, few_shot.number, few_shot.seed]
        parts += [] if few_shot.same is None else [few_shot.same]
        self.fingerprint = hashlib.sha256(_CANONICAL.encode(parts).encode()).hexdigest()
        self._check_shots(few_shot.same)
        return self

    def _check_shots(self, same: str | None) -> None:
        """Make examples once (of each value of `same`), so that too few show at once."""
        seen: set[str] = set()
        for index in range(1 if same is None else len(self)):
            row = self._chosen[index]
            value = "" if same is None else _value(self.to_doc(self._rows.row(row), row), same, self.origin)
            if value not in seen:
                seen.add(value)
                self[index]

    def entry(self, row: int) -> ShotEntry:
        """Return the doc of a row, chosen or not, without examples, and what the row says without the id."""
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
        """The docs' ids in order; no doc is read for it."""
        return self._ids if len(self._chosen) == len(self._ids) else [self._ids[row] for row in self._chosen]

    @property
    def known_ids(self) -> PackedTexts:
        """The ids of all docs that the data hold, chosen or not."""
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
        """Return the position of a doc from 0 by its id. Raises DataError where there is none."""
        found = self.find(doc_id)
        if found is None:
            from creval.errors import nearest

            near = nearest(doc_id, self.ids)
            some = ", ".join(repr(self[index].id) for index in range(min(3, len(self))))
            fix = f"Did you mean {near[0]!r}?" if near else f"The ids of its docs are like these: {some}."
            raise DataError(f"there is no doc with the id {doc_id!r}", where=self.origin, fix=fix)
        return found

    def find(self, doc_id: str) -> int | None:
        """Return the position of a doc from 0 by its id; None where there is none."""
        row = self._ids.find(doc_id)
        if row < 0:
            return None
        if len(self._chosen) == len(self._ids):
            return row
        place = bisect_left(self._chosen, row)
        return place if place < len(self._chosen) and self._chosen[place] == row else None

    def by_id(self, doc_id: str) -> Doc:
        """Return a doc by its id. Raises DataError where there is none."""
        return self[self.position(doc_id)]

    def place(self, doc_id: str) -> str:
        """Say where the row of a doc stands: `file:line`."""
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
        """Make a doc of a row. Raises ValueError with what is wrong."""
        return Doc(*self.content(row, index))

    def content(self, row: Row, index: int) -> tuple[str, Mapping[str, Any]]:
        """Return id and fields of the doc that a row makes. Raises ValueError with what is wrong."""
        if self._bare and type(row) is dict:
            given = row.get(self._id_field)
            if type(given) is str and given:
                return given, row
        try:
            return self._shaped(row, index)
        except ValueError as error:
            raise ValueError(f"{error}{self.left_out}") from None if self.left_out else error

    @property
    def left_out(self) -> str:
        """Say which columns are left out where nothing can take what they hold; empty where there are none."""
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
                raise ValueError(f"the id field {self._id_field!r} is missing; the row has {names_of(fields)}")
            what = "empty" if given is None else brief(given)
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
        """From here on look for infinite numbers in rows of JSON too; returns False where that is done already."""
        before = self._is_json
        self._is_json = self._bare = False
        return before

    def _plain_row(self, row: Mapping[str, Any], index: int) -> Mapping[str, Any]:
        """Return the fields of a row as JSON data, without those that can be none."""
        fields = {}
        for name, value in row.items():
            try:
                fields[str(name)] = _plain(value, str(name))
            except _InfiniteError as error:
                self._left_out.setdefault(str(name), f"{error} ({self._rows.where(index)})")
            except _NoDataError as error:
                self._left_out[str(name)] = str(error)
        return fields


def _choose(dataset: Dataset, ids: Sequence[str], sample: tuple[int, int]) -> Sequence[int]:
    """Return the places of the chosen docs, rising."""
    number, seed = sample
    if number > len(ids):
        raise DataError(
            f"the task samples {number:,} docs, and there are {len(ids):,}",
            where=dataset.origin,
            fix="Give the whole data, or a smaller number under dataset: sample.",
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
                doc_id, fields, line = self._read(row, index)
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
        for number, first in self.ids.settle():
            again, before = _row_of(number, without), rows.where(_row_of(first, without))
            self._faults.append(
                (again, f"{rows.where(again)}: the id {brief(self.ids[number])} stands at {before} too")
            )
        if self._faults:
            self._refuse()
        if not self.ids:
            raise DataError("the dataset holds no docs", where=rows.origin)

    def _read(self, row: Row, index: int) -> tuple[str, Mapping[str, Any], bytes]:
        doc_id, fields = self._dataset.content(row, index)
        try:
            return doc_id, fields, _canonical(doc_id, fields)
        except ValueError as error:
            if "Out of range float" not in str(error) or not self._dataset.expect_infinite():
                raise
        return self._read(row, index)

    def _note_fields(self, fields: Mapping[str, Any]) -> None:
        if self.common is None:
            self.common = dict.fromkeys(fields)
        self.common = {name: None for name in self.common if name in fields}
        self.union.update(dict.fromkeys(fields))

    def _refuse(self) -> None:
        shown = "\n".join(f"  {fault}" for _, fault in sorted(self._faults)[:_SHOWN])
        more = len(self._faults) - _SHOWN
        rest = f"\n  and {more} more" if more > 0 else ""
        count = len(self._faults)
        raise DataError(
            f"{count} row{'s are' if count > 1 else ' is'} faulty:\n{shown}{rest}",
            where=self._dataset.origin,
            fix="Correct these rows; no doc is left out silently.",
        )


def _canonical(doc_id: str, fields: Mapping[str, Any]) -> bytes:
    """Return a doc as a line of canonical JSON."""
    if _TEXT.issuperset(map(type, fields.values())):
        try:
            return orjson.dumps([doc_id, fields], option=_LINE)  # equal, and sooner
        except (TypeError, ValueError):  # a lone surrogate, a key that is no text
            pass
    return _CANONICAL.encode([doc_id, fields]).encode("utf-8", "surrogatepass") + b"\n"


def _row_of(number: int, without: Sequence[int]) -> int:
    """Return the row that gave the id of a number, where the rows `without`, rising, gave none."""
    row = number
    for other in without:
        if other > row:
            break
        row += 1
    return row


class _NoDataError(Exception):
    """A value that is no JSON data and has no form in it: bytes, images, objects. Its text names the kind."""


class _InfiniteError(_NoDataError):
    """An infinite number: no JSON data either, and a fault of one row where a task uses its column."""

    def __init__(self) -> None:
        super().__init__("an infinite number")


def _plain(value: Any, field: str) -> Any:
    """Return a value as JSON data. NaN stands for a missing value (tables have no other) and becomes None.

    A decimal is a number where a float holds it exactly, else its digits as a text; a duration is its seconds. Raises
    _InfiniteError for an infinite number, _NoDataError for bytes and what else is no data.
    """
    kind = type(value)  # nearly all that is asked about is of these four, and most of a dataset's opening is asking
    if kind is str or kind is int:
        return value
    if kind is list:
        return [member if type(member) is str else _plain(member, field) for member in value]
    if kind is dict:
        if value.keys() == HUB_MEDIA and (media := hub_media(value)) is not False:
            return media
        return {
            str(key): member if type(member) is str else _plain(member, f"{field}.{key}")
            for key, member in value.items()
        }
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if math.isinf(value):
            raise _InfiniteError
        return None if math.isnan(value) else value
    if isinstance(value, Mapping) and not isinstance(value, Media):
        return {str(key): _plain(member, f"{field}.{key}") for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member, field) for member in value]
    return _plain_object(value, field)


def _plain_object(value: Any, field: str) -> Any:
    if isinstance(value, Media):
        return value
    if isinstance(value, Decimal):
        return _plain_decimal(value, field)
    if isinstance(value, timedelta):
        return _plain_decimal(Decimal(value // timedelta(microseconds=1)).scaleb(-6), field)
    if getattr(getattr(value, "dtype", None), "kind", "") == "m" and not getattr(value, "shape", None):  # of numpy
        return _plain_decimal(Decimal(int(value.astype("timedelta64[ns]").astype(int))).scaleb(-9), field)
    if isinstance(value, bytes | bytearray | memoryview):
        found = media_of(bytes(value))
        if found is None:
            raise _NoDataError("bytes")
        return found
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return _plain(value.tolist(), field)
    raise _NoDataError(f"{type(value).__name__} objects")


def _plain_decimal(value: Decimal, field: str) -> int | float | str | None:
    if value.is_nan():
        return None
    if value.is_infinite():
        raise _InfiniteError
    if value == value.to_integral_value():
        return int(value)
    number = float(value)
    return number if Decimal(repr(number)) == value else str(value)

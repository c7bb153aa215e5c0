"""People's labels from a file: for whole samples, or for parts that a scorer lists (a path, a triple)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from creval.plugin import DataError, JudgedPart, SampleKey, nearest
from creval.plugin.agreement import MalformedRow, unguarded
from creval.plugin.data import open_file

__all__ = [
    "SAMPLE_COLUMNS",
    "Labels",
    "Rated",
    "columns_of",
    "labels_of_parts",
    "match_parts",
    "match_samples",
    "read_labels",
]

_KEYS = ("doc", "condition", "repeat")
_LABEL, _ANNOTATOR = "label", "annotator"
SAMPLE_COLUMNS = (*_KEYS, _LABEL, _ANNOTATOR)
"""The columns of a file that labels whole samples."""
_SHOWN = 60

Name = tuple[str, ...]


class Labels(NamedTuple):
    """Ratings by the values of the columns `keys` and `parts`, and then by annotator."""

    file: Path
    keys: Sequence[str]
    parts: Sequence[str]
    values: Mapping[Name, Sequence[tuple[str, float]]]

    @property
    def unit(self) -> str:
        """The unit of a label: a `sample`, or the innermost part that a column names."""
        return self.parts[-1] if self.parts else "sample"

    def base(self, key: SampleKey) -> Name:
        """Return the values of the key columns for a sample."""
        found = {"doc": key.doc, "condition": key.condition, "repeat": str(key.repeat)}
        return tuple(found[name] for name in self.keys)


class Rated(NamedTuple):
    """People's labels of one unit by annotator, and the judge's rating of it."""

    people: Sequence[tuple[str, float]]
    judge: float

    @property
    def label(self) -> float:
        """The mean of people's labels."""
        return fmean(label for _, label in self.people)


def columns_of(path: Path) -> list[str]:
    """Return the names of the columns of a file of labels."""
    return list(dict.fromkeys(str(name) for row in open_file(path) for name in _fields(row)))


def read_labels(path: Path, parts: Sequence[str]) -> Labels:
    """Read people's ratings; `parts` are the columns that identify a part of a sample, the outer ones first.

    Raises DataError; for an unknown column it names the nearest known one.
    """
    rows = open_file(path)
    known = (*_KEYS, *parts, _LABEL, _ANNOTATOR)
    found: defaultdict[Name, list[tuple[str, float]]] = defaultdict(list)
    keys: Sequence[str] = ()
    named: Sequence[str] = ()
    for index, row in enumerate(rows):
        fields = _fields(row)
        _check_columns(fields, known, rows.where(index))
        keys = keys or [name for name in _KEYS if name in fields]
        named = named or [name for name in parts if name in fields]
        try:
            name = tuple(unguarded(str(fields[each])) for each in (*keys, *named))
            found[name].append((str(fields.get(_ANNOTATOR, "")), _label(fields[_LABEL])))
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"the row is not a label ({type(error).__name__}: {error})",
                where=rows.where(index),
                fix=f"Each row has {', '.join(('doc', *named))} and label, a number on the judge's scale.",
            ) from None
    if "doc" not in keys:
        raise DataError("there are no labels by doc", where=str(path), fix="Name the columns doc and label.")
    return Labels(path, keys, named, found)


def match_samples(labels: Labels, scores: Mapping[SampleKey, float]) -> list[Rated]:
    """Return the judged samples that have a label, in the order of their keys."""
    found = ((labels.values.get(labels.base(key)), given) for key, given in sorted(scores.items()))
    return [Rated(said, given) for said, given in found if said]


def match_parts(labels: Labels, judged: Iterable[tuple[SampleKey, JudgedPart]], score: str) -> list[Rated]:
    """Return the judged parts that have a label, in the order of `judged`; parts without the score are left out.

    Raises DataError for a label that names two parts: its file lacks a column.
    """
    parts = [(key, part) for key, part in judged if part.unit == labels.unit]
    return [
        Rated(said, part.ratings[score])
        for (_, part), said in zip(parts, labels_of_parts(labels, parts), strict=True)
        if said and score in part.ratings
    ]


def labels_of_parts(labels: Labels, parts: Sequence[tuple[SampleKey, JudgedPart]]) -> list[Sequence[tuple[str, float]]]:
    """Return people's labels for each part (all of the unit of the labels), as pairs of annotator and label.

    Raises DataError for a label that names two parts: its file lacks a column.
    """
    owners: Counter[Name] = Counter()
    people: list[Sequence[tuple[str, float]]] = []
    for key, part in parts:
        names = {(*labels.base(key), *each) for each in product(*(part.names[column] for column in labels.parts))}
        owners.update(name for name in names if name in labels.values)
        people.append([said for name in sorted(names) for said in labels.values.get(name, ())])
    twice = next((name for name, count in owners.items() if count > 1), None)
    if twice is not None:
        raise _ambiguous(labels, twice, owners[twice], parts[0][1])
    return people


def _ambiguous(labels: Labels, name: Name, count: int, part: JudgedPart) -> DataError:
    columns = (*labels.keys, *labels.parts)
    said = ", ".join(f"{column} {value[:_SHOWN]}" for column, value in zip(columns, name, strict=True))
    lacking = [column for column in (*_KEYS, *part.names) if column not in columns]
    return DataError(
        f"one label names {count} judged parts ({labels.unit}): {said}",
        where=str(labels.file),
        fix=f"Add a column that distinguishes them: {', '.join(lacking)}." if lacking else "Name them by number.",
    )


def _fields(row: Any) -> Mapping[str, Any]:
    return {} if isinstance(row, MalformedRow) else dict(row.fields if hasattr(row, "fields") else row)


def _check_columns(fields: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    foreign = next((str(name) for name in fields if name not in known), None)
    if foreign is None:
        return
    near = nearest(foreign, known, 1)
    fix = f"Did you mean {near[0]!r}? " if near else ""
    raise DataError(
        f"the column {foreign!r} is unknown, and labels of different things would be averaged",
        where=where,
        fix=f"{fix}For this run its columns are {', '.join(known)}.",
    )


def _label(given: Any) -> float:
    """Return a label as a number. Raises ValueError for other values: true, NaN, `1_0`."""
    number = float(given)
    if isinstance(given, bool) or not math.isfinite(number) or "_" in str(given):
        raise ValueError(f"{given!r} is not a number")
    return number

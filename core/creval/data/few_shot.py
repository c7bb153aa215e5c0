"""Few-shot examples: docs before a question, drawn for each doc by the seed, never the doc itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from creval.data.shaping import names_of, shortened
from creval.errors import DataError, nearest
from creval.format import counted
from creval.types.sample import Doc

__all__ = ["CANONICAL", "SHOTS", "ShotEntry", "Shots", "shared_value"]


SHOTS = "shots"
"""The field with a doc's examples."""

CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
"""Canonical JSON: equal for equal values."""


class ShotEntry(NamedTuple):
    """A doc, and its row's content without the id: two docs with the same content are copies of each other."""

    doc: Doc
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Shots:
    """The pool of examples: `size` docs, read by `entry`, of which each asked doc gets `number`.

    Without a seed they are the first ones, in order, else those drawn by the seed and the asked doc's id. The asked doc
    is excluded by its id if it is in the pool (`own`), and always by its content: a copy would give the answer away,
    too. With `same` only docs with the same value of this field as the asked doc are used (`places`).
    """

    number: int
    seed: int | None
    size: int
    entry: Callable[[int], ShotEntry]
    own: bool
    origin: str
    same: str | None = None
    places: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def of(self, doc_entry: ShotEntry) -> list[Mapping[str, Any]]:
        """Return the fields of the examples of a doc. Raises DataError if there are not enough others."""
        examples: list[Mapping[str, Any]] = []
        pool = (
            range(self.size)
            if self.same is None
            else self.places.get(shared_value(doc_entry.doc, self.same, self.origin), ())
        )
        for place in self._drawn(pool, doc_entry.doc.id):
            if len(examples) == self.number:
                break
            other = self.entry(place)
            same = other.content == doc_entry.content or (self.own and other.doc.id == doc_entry.doc.id)
            if not same:
                examples.append(other.doc.fields)
        if len(examples) < self.number:
            alike = "" if self.same is None else f" with its {self.same} ({shortened(doc_entry.doc.fields[self.same])})"
            raise DataError(
                f"few_shot asks for {counted(self.number, 'examples')}; apart from the doc {doc_entry.doc.id!r} "
                f"the data hold {len(examples)}{alike}",
                where=self.origin,
                fix="Request fewer, or provide more data.",
            )
        return examples

    def _drawn(self, pool: Sequence[int], doc_id: str) -> Iterator[int]:
        """Yield every position once, in the order of the draw; a few of many are found without ordering all."""
        if self.seed is None:
            yield from pool
            return
        drawn: set[int] = set()
        for draw in range(4 * len(pool)):
            if len(drawn) == len(pool):
                return
            digest = hashlib.sha256(f"{self.seed}\x1f{doc_id}\x1f{draw}".encode("utf-8", "surrogatepass")).digest()
            place = int.from_bytes(digest[:8], "big") % len(pool)
            if place not in drawn:
                drawn.add(place)
                yield pool[place]
        yield from (pool[place] for place in range(len(pool)) if place not in drawn)


def shared_value(doc: Doc, name: str, origin: str) -> str:
    """Return a doc's value of the field that its examples share with it. Raises DataError if it has none."""
    if name not in doc.fields:
        what = f"the doc {doc.id!r} lacks the field {name!r}, which its examples share with it"
        near = nearest(name, doc.fields)
        hint = f"Did you mean {near[0]!r}?" if near else "See few_shot: same."
        raise DataError(what, where=origin, fix=f"{hint} It has {names_of(doc.fields)}.")
    return CANONICAL.encode(doc.fields[name])

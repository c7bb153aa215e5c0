"""Examples put before a question (few-shot), drawn for each doc by the seed; never the doc itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from creval.errors import DataError
from creval.types.sample import Doc

__all__ = ["SHOTS", "ShotEntry", "Shots"]

SHOTS = "shots"
"""The field that a doc's examples stand in."""


class ShotEntry(NamedTuple):
    """A doc, and what its row says without the id: two docs of one content are copies of each other."""

    doc: Doc
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Shots:
    """Where examples come from: `size` docs, read by `entry`, of which each asked one gets `number`.

    Without a seed they are the first ones, in order, else those that seed and id of the asked doc draw. The asked doc
    is left out by its id where it is one of the pool (`own`), and by its content always: a copy of it would give the
    answer away as well.
    """

    number: int
    seed: int | None
    size: int
    entry: Callable[[int], ShotEntry]
    own: bool
    origin: str

    def of(self, asked: ShotEntry) -> list[Mapping[str, Any]]:
        """Return the fields of the examples of a doc. Raises DataError where there are not enough others."""
        chosen: list[Mapping[str, Any]] = []
        for place in self._places(asked.doc.id):
            if len(chosen) == self.number:
                break
            other = self.entry(place)
            same = other.content == asked.content or (self.own and other.doc.id == asked.doc.id)
            if not same:
                chosen.append(other.doc.fields)
        if len(chosen) < self.number:
            raise DataError(
                f"few_shot asks for {self.number} examples; beside the doc {asked.doc.id!r} there are {len(chosen)}",
                where=self.origin,
                cure="Ask for fewer, or give more data.",
            )
        return chosen

    def _places(self, asked: str) -> Iterator[int]:
        """Yield every place once, in the order of the draw; few of many are found without ordering them all."""
        if self.seed is None:
            yield from range(self.size)
            return
        seen: set[int] = set()
        for draw in range(4 * self.size):
            if len(seen) == self.size:
                return
            digest = hashlib.sha256(f"{self.seed}\x1f{asked}\x1f{draw}".encode("utf-8", "surrogatepass")).digest()
            place = int.from_bytes(digest[:8], "big") % self.size
            if place not in seen:
                seen.add(place)
                yield place
        yield from (place for place in range(self.size) if place not in seen)

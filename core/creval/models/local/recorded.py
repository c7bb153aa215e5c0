"""Where the recorded answer of each sample stands: 18 bytes a line, whatever it holds."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Places", "Recorded"]


class Recorded(NamedTuple):
    """A line: the number of its file, and the byte at which it begins."""

    file: int
    start: int


class Places:
    """Lines by the hash of what they answer. Hashes may meet: whoever looks one up reads the line and sees."""

    def __init__(self) -> None:
        self._hashes, self._starts, self._files = array("q"), array("q"), array("H")

    def add(self, key: tuple[Any, ...], place: Recorded) -> None:
        """Note a line. The keys' parts are texts and numbers."""
        self._hashes.append(hash(key))
        self._files.append(place.file)
        self._starts.append(place.start)

    def __len__(self) -> int:
        return len(self._starts)

    def close(self) -> None:
        """Make it ready to be asked."""
        order = np.argsort(np.frombuffer(self._hashes, dtype=np.int64), kind="stable")
        for column in (self._hashes, self._starts, self._files):
            view = np.frombuffer(column, dtype=column.typecode)
            view[:] = view[order]

    def meeting(self) -> list[list[Recorded]]:
        """Return the lines whose hashes are equal, in the order in which they came."""
        hashes = np.frombuffer(self._hashes, dtype=np.int64)
        equal = np.flatnonzero(hashes[1:] == hashes[:-1])
        starts = [int(place) for place in equal if place == 0 or hashes[place - 1] != hashes[place]]
        return [list(self._from(place, self._hashes[place])) for place in starts]

    def find(self, key: tuple[Any, ...]) -> Iterator[Recorded]:
        """Yield the lines that may be the one."""
        wanted = hash(key)
        return self._from(bisect_left(self._hashes, wanted), wanted)

    def _from(self, place: int, wanted: int) -> Iterator[Recorded]:
        while place < len(self._hashes) and self._hashes[place] == wanted:
            yield Recorded(self._files[place], self._starts[place])
            place += 1

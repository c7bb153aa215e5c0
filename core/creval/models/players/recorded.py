"""Where the recorded answer of each sample stands: 18 bytes a line, whatever it holds."""

from __future__ import annotations

from array import array
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
        self._sorted = np.zeros(0, dtype=np.int64)

    def add(self, key: tuple[Any, ...], place: Recorded) -> None:
        """Note a line. The keys' parts are texts and numbers."""
        self._hashes.append(hash(key))
        self._files.append(place.file)
        self._starts.append(place.start)

    def __len__(self) -> int:
        return len(self._starts)

    def close(self) -> None:
        """Make it ready to be asked."""
        hashes = np.array(self._hashes, dtype=np.int64)
        self._hashes = array("q")
        order = np.argsort(hashes, kind="stable").astype(np.int32)
        self._sorted = hashes[order]
        del hashes
        self._starts = array("q", np.array(self._starts)[order].tobytes())
        self._files = array("H", np.array(self._files)[order].tobytes())

    def meeting(self) -> list[list[Recorded]]:
        """Return the lines whose hashes are equal, in the order in which they came."""
        equal = np.flatnonzero(self._sorted[1:] == self._sorted[:-1])
        starts = [int(place) for place in equal if place == 0 or self._sorted[place - 1] != self._sorted[place]]
        return [list(self._from(place, int(self._sorted[place]))) for place in starts]

    def find(self, key: tuple[Any, ...]) -> Iterator[Recorded]:
        """Yield the lines that may be the one."""
        wanted = hash(key)
        return self._from(int(np.searchsorted(self._sorted, wanted)), wanted)

    def _from(self, place: int, wanted: int) -> Iterator[Recorded]:
        while place < len(self._sorted) and self._sorted[place] == wanted:
            yield Recorded(self._files[place], self._starts[place])
            place += 1

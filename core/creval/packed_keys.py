"""Stores many keys in little memory: texts and hashes in one block of bytes, without a Python object for each."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import numpy as np

__all__ = ["PackedHashes", "PackedTexts"]

_FIRST = 1 << 10  # slots of a new table
_FEW = 1 << 12
_AT_ONCE = 1 << 13
_LARGE = 1 << 32
_WIDEST = 64  # bytes of the longest text for which texts are sorted in one table


class PackedHashes:
    """A set of 64-bit numbers: 12 to 24 bytes each."""

    __slots__ = ("_count", "_mask", "_slots")

    def __init__(self) -> None:
        self._slots = array("q", bytes(8 * _FIRST))
        self._mask = _FIRST - 1
        self._count = 0

    def add(self, number: int) -> bool:
        """Add a number. Returns whether it is new."""
        slots, mask = self._slots, self._mask
        number = number or 1  # 0 marks a free slot
        place = number & mask
        while found := slots[place]:
            if found == number:
                return False
            place = (place + 1) & mask
        slots[place] = number
        self._count += 1
        if 3 * self._count > 2 * mask:
            self._grow()
        return True

    def __contains__(self, number: int) -> bool:
        slots, mask = self._slots, self._mask
        number = number or 1
        place = number & mask
        while found := slots[place]:
            if found == number:
                return True
            place = (place + 1) & mask
        return False

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        return (number for number in self._slots if number)

    def _grow(self) -> None:
        old, mask = self._slots, 2 * self._mask + 1
        slots = array("q", bytes(8)) * (mask + 1)
        for number in old:
            if number:
                place = number & mask
                while slots[place]:
                    place = (place + 1) & mask
                slots[place] = number
        self._slots, self._mask = slots, mask


class PackedTexts(Sequence[str]):
    """Distinct texts, numbered from 0 in order of arrival: 10 to 16 bytes each in addition to the text.

    Add them one by one (`add`), or faster if many are added before the first look-up (`append`, `settle`).
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._ends = array("I", [0])
        self._slots = array("i", [-1]) * _FIRST
        self._mask = _FIRST - 1
        self._hashes = array("q")  # of the texts that are not settled
        self._last, self._rising = b"", True

    def add(self, text: str) -> int:
        """Return the number of a text, which is added if it is new."""
        place, number = self._place(text)
        if number >= 0:
            return number
        number = len(self._ends) - 1
        self._append_text(text)
        self._slots[place] = number
        if 3 * number > 2 * self._mask:
            self._grow()
        return number

    def append(self, text: str) -> None:
        """Add a text without checking whether it exists; `settle` checks. Until then it is not found."""
        self._append_text(text)
        self._hashes.append(hash(text))

    def settle(self) -> list[tuple[int, int]]:
        """Make every appended text available to look-ups; do not mix with `add`.

        Return the numbers of duplicates, ascending, each with the number of the first one.
        """
        few = len(self._hashes) < _FEW  # not worth the import of numpy
        self._slots = array("i", [-1]) * _slots(len(self)) if few else _table(self._hashes)
        self._mask = len(self._slots) - 1
        twice = self._settled() if few else self._twice()
        self._hashes = array("q")
        return twice

    def find(self, text: str) -> int:
        """Return the number of a text, or -1."""
        return self._place(text)[1]

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self._place(text)[1] >= 0

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self._bytes[self._ends[index] : self._ends[index + 1]].decode("utf-8", "surrogatepass")

    def ranks(self) -> np.ndarray[Any, np.dtype[np.int32]] | None:
        """Return the rank of each text in sorted order, shape (texts,); None if they were added in sorted order."""
        import numpy as np

        # UTF-8 bytes sort in the order of the characters, including lone surrogates.
        if self._rising:
            return None
        order = self._sorted()
        ranks = np.empty(len(self), dtype=np.int32)
        ranks[order] = np.arange(len(self), dtype=np.int32)
        return ranks

    def _sorted(self) -> Any:
        import numpy as np

        ends = self._ends
        widest = max((ends[n + 1] - ends[n] for n in range(len(self))), default=0)
        if widest > _WIDEST or 0 in self._bytes:  # numpy takes a zero at the end for padding
            return sorted(range(len(self)), key=lambda n: bytes(self._bytes[ends[n] : ends[n + 1]]))
        table = np.fromiter(
            (bytes(self._bytes[ends[n] : ends[n + 1]]) for n in range(len(self))), f"S{max(1, widest)}", len(self)
        )
        return np.argsort(table)

    def _append_text(self, text: str) -> None:
        encoded = text.encode("utf-8", "surrogatepass")
        self._rising = self._rising and encoded >= self._last
        self._last = encoded
        self._bytes += encoded
        end = len(self._bytes)
        if end >= _LARGE and self._ends.typecode == "I":
            self._ends = array("Q", self._ends)
        self._ends.append(end)

    def _settled(self) -> list[tuple[int, int]]:
        """Put every text into the table, one by one. Return the duplicates."""
        twice = []
        for number in range(len(self)):
            place, first = self._place(self[number])
            if first >= 0:
                twice.append((number, first))
            else:
                self._slots[place] = number
        return twice

    def _twice(self) -> list[tuple[int, int]]:
        """Return the duplicates, with the number of the first."""
        import numpy as np

        hashes = np.frombuffer(self._hashes, dtype=np.int64)
        rising = np.sort(hashes)
        shared = rising[1:][rising[1:] == rising[:-1]]
        first: dict[str, int] = {}
        if not len(shared):
            return []
        found = [(int(number), self[int(number)]) for number in np.flatnonzero(np.isin(hashes, shared))]
        return [(number, first[text]) for number, text in found if first.setdefault(text, number) != number]

    def _place(self, text: str) -> tuple[int, int]:
        """Return the slot of a text and its number, or -1."""
        slots, mask, ends = self._slots, self._mask, self._ends
        place = hash(text) & mask
        number = slots[place]
        if number < 0:
            return place, -1
        encoded = text.encode("utf-8", "surrogatepass")
        while number >= 0:
            if self._bytes[ends[number] : ends[number + 1]] == encoded:
                return place, number
            place = (place + 1) & mask
            number = slots[place]
        return place, -1

    def _grow(self) -> None:
        mask = 2 * self._mask + 1
        slots = array("i", [-1]) * (mask + 1)
        self._slots, self._mask = slots, mask
        for number in range(len(self)):
            place = hash(self[number]) & mask
            while slots[place] >= 0:
                place = (place + 1) & mask
            slots[place] = number


def _slots(count: int) -> int:
    """Return the number of slots of a table for `count` entries: a power of two, of which a third stays free."""
    return max(_FIRST, 1 << (3 * count // 2).bit_length())


def _table(hashes: array[int]) -> array[int]:
    """Return the hash table that `PackedTexts` would fill with these hashes one by one, made in one step."""
    import numpy as np

    slots = array("i", [-1]) * _slots(len(hashes))
    mask = len(slots) - 1
    table, known = np.frombuffer(slots, dtype=np.int32), np.frombuffer(hashes, dtype=np.int64)
    for start in range(0, len(known), _AT_ONCE):
        places = known[start : start + _AT_ONCE] & mask
        waiting = np.arange(start, start + len(places), dtype=np.int32)
        while len(waiting):
            free = table[places] < 0
            table[places[free][::-1]] = waiting[free][::-1]  # of two for one slot the earlier gets it
            later = table[places] != waiting
            places, waiting = (places[later] + 1) & mask, waiting[later]
    return slots

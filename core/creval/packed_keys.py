"""Stores many keys in little memory: texts and hashes in one block of bytes, without a Python object for each."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import numpy as np

__all__ = ["PackedHashes", "PackedTexts"]

_MIN_SLOTS = 1 << 10  # slots of a new table
_NUMPY_MINIMUM = 1 << 12  # texts for which numpy is imported
_CHUNK = 1 << 13  # texts that are indexed in one step
_OFFSET_LIMIT = 1 << 32  # bytes of text, beyond which offsets have 64 bits
_MAX_SORTED_BYTES = 64  # bytes of the longest text for which texts are sorted in one table


class PackedHashes:
    """A set of 64-bit numbers: 12 to 24 bytes each."""

    __slots__ = ("_count", "_mask", "_slots")

    def __init__(self) -> None:
        self._slots = array("q", bytes(8 * _MIN_SLOTS))
        self._mask = _MIN_SLOTS - 1
        self._count = 0

    def add(self, number: int) -> bool:
        """Add a number. Returns whether it is new."""
        slots, mask = self._slots, self._mask
        number = number or 1  # 0 marks a free slot
        slot = number & mask
        while stored := slots[slot]:
            if stored == number:
                return False
            slot = (slot + 1) & mask
        slots[slot] = number
        self._count += 1
        if 3 * self._count > 2 * mask:
            self._grow()
        return True

    def __contains__(self, number: int) -> bool:
        slots, mask = self._slots, self._mask
        number = number or 1
        slot = number & mask
        while stored := slots[slot]:
            if stored == number:
                return True
            slot = (slot + 1) & mask
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
                slot = number & mask
                while slots[slot]:
                    slot = (slot + 1) & mask
                slots[slot] = number
        self._slots, self._mask = slots, mask


class PackedTexts(Sequence[str]):
    """Distinct texts, numbered from 0 in order of arrival: 10 to 16 bytes each in addition to the text.

    Add them one by one (`add`), or faster if many are added before the first look-up (`append`, `index_appended`).
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._ends = array("I", [0])
        self._slots = array("i", [-1]) * _MIN_SLOTS
        self._mask = _MIN_SLOTS - 1
        self._hashes = array("q")  # of appended texts that are not indexed yet
        self._last_added, self._is_sorted = b"", True

    def add(self, text: str) -> int:
        """Return the number of a text, which is added if it is new."""
        slot, number = self._look_up(text)
        if number >= 0:
            return number
        number = len(self._ends) - 1
        self._append_text(text)
        self._slots[slot] = number
        if 3 * number > 2 * self._mask:
            self._grow()
        return number

    def append(self, text: str) -> None:
        """Add a text without checking whether it exists; `index_appended` checks. Until then it is not found."""
        self._append_text(text)
        self._hashes.append(hash(text))

    def index_appended(self) -> list[tuple[int, int]]:
        """Make every appended text available to look-ups; do not mix with `add`.

        Return the numbers of duplicates, ascending, each with the number of the first one.
        """
        small = len(self._hashes) < _NUMPY_MINIMUM  # too few to import numpy
        self._slots = array("i", [-1]) * _slot_count(len(self)) if small else _build_table(self._hashes)
        self._mask = len(self._slots) - 1
        duplicates = self._index_all() if small else self._find_duplicates()
        self._hashes = array("q")
        return duplicates

    def find(self, text: str) -> int:
        """Return the number of a text, or -1."""
        return self._look_up(text)[1]

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self._look_up(text)[1] >= 0

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
        if self._is_sorted:
            return None
        order = self._sorted()
        ranks = np.empty(len(self), dtype=np.int32)
        ranks[order] = np.arange(len(self), dtype=np.int32)
        return ranks

    def _sorted(self) -> Any:
        import numpy as np

        ends = self._ends
        widest = max((ends[n + 1] - ends[n] for n in range(len(self))), default=0)
        if widest > _MAX_SORTED_BYTES or 0 in self._bytes:  # numpy takes a zero at the end for padding
            return sorted(range(len(self)), key=lambda n: bytes(self._bytes[ends[n] : ends[n + 1]]))
        table = np.fromiter(
            (bytes(self._bytes[ends[n] : ends[n + 1]]) for n in range(len(self))), f"S{max(1, widest)}", len(self)
        )
        return np.argsort(table)

    def _append_text(self, text: str) -> None:
        encoded = text.encode("utf-8", "surrogatepass")
        self._is_sorted = self._is_sorted and encoded >= self._last_added
        self._last_added = encoded
        self._bytes += encoded
        end = len(self._bytes)
        if end >= _OFFSET_LIMIT and self._ends.typecode == "I":
            self._ends = array("Q", self._ends)
        self._ends.append(end)

    def _index_all(self) -> list[tuple[int, int]]:
        """Add every text to the table, one by one, and return the duplicates."""
        duplicates = []
        for number in range(len(self)):
            slot, first = self._look_up(self[number])
            if first >= 0:
                duplicates.append((number, first))
            else:
                self._slots[slot] = number
        return duplicates

    def _find_duplicates(self) -> list[tuple[int, int]]:
        """Return the duplicates, each with the number of the first one."""
        import numpy as np

        hashes = np.frombuffer(self._hashes, dtype=np.int64)
        ordered = np.sort(hashes)
        repeated = ordered[1:][ordered[1:] == ordered[:-1]]
        first: dict[str, int] = {}
        if not len(repeated):
            return []
        candidates = [(int(number), self[int(number)]) for number in np.flatnonzero(np.isin(hashes, repeated))]
        return [(number, first[text]) for number, text in candidates if first.setdefault(text, number) != number]

    def _look_up(self, text: str) -> tuple[int, int]:
        """Return the slot of a text and its number, or -1."""
        slots, mask, ends = self._slots, self._mask, self._ends
        slot = hash(text) & mask
        number = slots[slot]
        if number < 0:
            return slot, -1
        encoded = text.encode("utf-8", "surrogatepass")
        while number >= 0:
            if self._bytes[ends[number] : ends[number + 1]] == encoded:
                return slot, number
            slot = (slot + 1) & mask
            number = slots[slot]
        return slot, -1

    def _grow(self) -> None:
        mask = 2 * self._mask + 1
        slots = array("i", [-1]) * (mask + 1)
        self._slots, self._mask = slots, mask
        for number in range(len(self)):
            slot = hash(self[number]) & mask
            while slots[slot] >= 0:
                slot = (slot + 1) & mask
            slots[slot] = number


def _slot_count(count: int) -> int:
    """Return the number of slots of a table for `count` entries: a power of two, of which a third stays free."""
    return max(_MIN_SLOTS, 1 << (3 * count // 2).bit_length())


def _build_table(hashes: array[int]) -> array[int]:
    """Return the hash table that `PackedTexts` would fill with these hashes one by one."""
    import numpy as np

    slots = array("i", [-1]) * _slot_count(len(hashes))
    mask = len(slots) - 1
    table, hash_values = np.frombuffer(slots, dtype=np.int32), np.frombuffer(hashes, dtype=np.int64)
    for start in range(0, len(hash_values), _CHUNK):
        wanted_slots = hash_values[start : start + _CHUNK] & mask
        unplaced = np.arange(start, start + len(wanted_slots), dtype=np.int32)
        while len(unplaced):
            free = table[wanted_slots] < 0
            table[wanted_slots[free][::-1]] = unplaced[free][::-1]  # the earlier of two texts gets the slot
            occupied = table[wanted_slots] != unplaced
            wanted_slots, unplaced = (wanted_slots[occupied] + 1) & mask, unplaced[occupied]
    return slots

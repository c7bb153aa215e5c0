"""The rank of each sample in its task, and sets of ranks with one bit each."""

from __future__ import annotations

from creval.engine.planning.plan import TaskPlan
from creval.types.sample import SampleKey

__all__ = ["DoneRanks", "Ranking"]


class Ranking:
    """The ranks of a task's samples (`TaskPlan.rank`) by their keys.

    `count` is one more than the highest possible rank; docs that were not chosen have ranks without samples.
    """

    def __init__(self, plan: TaskPlan) -> None:
        self._plan = plan
        self._task = plan.task.name
        self._find = plan.dataset.find
        self._conditions = {condition.name: place for place, condition in enumerate(plan.task.conditions)}
        self._repeats = plan.repeats
        self._planned: bytearray | None = None
        if plan.indices is not None:
            self._planned = bytearray(len(plan.dataset))
            for index in plan.indices:
                self._planned[index] = 1
        self.count = len(plan.dataset) * len(self._conditions) * plan.repeats

    def of(self, key: SampleKey) -> int | None:
        """Return the rank of a sample, from 0, or None if it was not planned."""
        task, doc, name, repeat = key
        condition = self._conditions.get(name)
        if condition is None or not 0 <= repeat < self._repeats or task != self._task:
            return None
        position = self._find(doc)
        if position is None or (self._planned is not None and not self._planned[position]):
            return None
        return self._plan.rank(position, condition, repeat)


class DoneRanks:
    """A set of samples of one task."""

    __slots__ = ("_bits", "_count", "_ranking")

    def __init__(self, ranking: Ranking) -> None:
        self._ranking = ranking
        self._bits = bytearray(ranking.count // 8 + 1)
        self._count = 0

    def add(self, rank: int) -> bool:
        """Add a sample by its rank. Return whether it is new."""
        bit = 1 << (rank & 7)
        if self._bits[rank >> 3] & bit:
            return False
        self._bits[rank >> 3] |= bit
        self._count += 1
        return True

    def discard(self, rank: int) -> None:
        """Remove a sample by its rank."""
        if self.has(rank):
            self._bits[rank >> 3] &= ~(1 << (rank & 7))
            self._count -= 1

    def has(self, rank: int) -> bool:
        """Whether the sample of a rank is in the set."""
        return bool(self._bits[rank >> 3] & (1 << (rank & 7)))

    def __contains__(self, key: SampleKey) -> bool:
        if not self._count:
            return False
        rank = self._ranking.of(key)
        return rank is not None and self.has(rank)

    def __len__(self) -> int:
        return self._count

    def __le__(self, other: DoneRanks) -> bool:
        """Whether all of these are in another set over the same task."""
        bits, known = int.from_bytes(self._bits, "little"), int.from_bytes(other._bits, "little")
        return not bits & ~known

    def to_bytes(self) -> bytes:
        """Return the set as bytes: sample r is bit r % 8 of byte r // 8."""
        return bytes(self._bits)

    def read_bytes(self, data: bytes) -> None:
        """Restore the set from its bytes. Raises ValueError if there are too few or too many."""
        if len(data) != len(self._bits):
            raise ValueError(f"{len(data)} bytes for {len(self._bits)}")
        self._bits = bytearray(data)
        self._count = int.from_bytes(data, "little").bit_count()

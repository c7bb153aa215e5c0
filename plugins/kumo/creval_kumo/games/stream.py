"""Our own random stream: the same words give the same numbers on every machine, Python version and hash seed."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from typing import TypeVar

__all__ = ["Stream"]

T = TypeVar("T")
_SPAN = 1 << 64
_DRAWS = struct.Struct(">8Q")  # eight draws of 64 bits from one SHA-512


class Stream:
    """Random numbers from SHA-512 in counter mode, keyed by words (`Stream("medical", 4, 6, 17)`)."""

    def __init__(self, *words: object) -> None:
        self._key = hashlib.sha256("\x1f".join(str(word) for word in words).encode()).digest()
        self._counter = 0
        self._pool: list[int] = []

    def _draw(self) -> int:
        if not self._pool:
            block = hashlib.sha512(self._key + self._counter.to_bytes(8, "big")).digest()
            self._pool = list(_DRAWS.unpack(block))
            self._counter += 1
        return self._pool.pop()

    def below(self, n: int) -> int:
        """Return a uniform integer from 0 to n - 1 (by rejection sampling). `n` is from 1 to 2^64."""
        value = self._pool.pop() if self._pool else self._draw()
        if value < _SPAN - n:
            return value % n
        limit = _SPAN - _SPAN % n  # equal shares below it
        while value >= limit:
            value = self._draw()
        return value % n

    def uniform(self, lo: float, hi: float) -> float:
        """Return a float in [lo, hi], uniform on a grid of 2^53 steps."""
        return min(hi, lo + (hi - lo) * ((self._draw() >> 11) / (1 << 53)))

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """Return the items in random order (Fisher-Yates). The caller must pass them in a fixed order."""
        shuffled = list(items)
        for index in range(len(shuffled) - 1, 0, -1):
            other = self.below(index + 1)
            shuffled[index], shuffled[other] = shuffled[other], shuffled[index]
        return shuffled

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Return `count` different items in random order."""
        pool = list(items)
        chosen = []
        for _ in range(count):
            chosen.append(pool.pop(self.below(len(pool))))
        return chosen

    def choice(self, items: Sequence[T]) -> T:
        """Return one random item."""
        return items[self.below(len(items))]

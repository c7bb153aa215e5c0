"""Lines in order from several processes, identical to those of one process.

Each process draws its games without knowing the others'. Duplicates are rare; the parent, which sees all keys in order,
redraws each from the draw at which the worker stopped, as a single process does.
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

from creval_kumo.trajectories.trajectory_lines import LineMaker, TrajectorySet

__all__ = ["trajectory_lines"]

CHUNK = 200
_WATCH_SECONDS = 0.5


class _Drawn(NamedTuple):
    key: bytes
    attempt: int
    line: str


def trajectory_lines(games: TrajectorySet, start: int, stop: int, seen: set[bytes], workers: int = 1) -> Iterator[str]:
    """Yield the lines of games `start` to `stop` - 1. `seen` contains the keys of all earlier games and is updated."""
    maker = LineMaker(games)
    maker.maker.seen = seen
    if workers <= 1:
        for number in range(start, stop):
            yield maker.line(maker.maker.make(number))
        return
    for number, drawn in zip(itertools.count(start), _drawn(games, start, stop, workers), strict=False):
        if drawn.key in seen:
            yield maker.line(maker.maker.make(number, drawn.attempt + 1))
        else:
            seen.add(drawn.key)
            yield drawn.line


def _drawn(games: TrajectorySet, start: int, stop: int, workers: int) -> Iterator[_Drawn]:
    """Draw in chunks, a few ahead of the consumer, so that memory stays bounded."""
    context = get_context("spawn")
    chunks = iter(range(start, stop, CHUNK))
    waiting: deque[Future[list[_Drawn]]] = deque()
    with ProcessPoolExecutor(workers, context, initializer=_end_with, initargs=(os.getpid(),)) as pool:
        try:
            for first in itertools.islice(chunks, 2 * workers):
                waiting.append(pool.submit(_chunk, games, first, min(stop, first + CHUNK)))
            while waiting:
                yield from waiting.popleft().result()
                for first in itertools.islice(chunks, 1):
                    waiting.append(pool.submit(_chunk, games, first, min(stop, first + CHUNK)))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _end_with(parent: int) -> None:
    """Make this worker end soon after its parent, even a killed one: otherwise it would wait for work forever."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@functools.lru_cache(maxsize=1)
def _maker(games: TrajectorySet) -> LineMaker:
    """Return the maker of a worker process, which only draws and records no games."""
    return LineMaker(games)


def _chunk(games: TrajectorySet, start: int, stop: int) -> list[_Drawn]:
    maker = _maker(games)
    drawn = []
    for number in range(start, stop):
        made = maker.maker.draw(number)
        drawn.append(_Drawn(made.key, made.attempt, maker.line(made)))
    return drawn

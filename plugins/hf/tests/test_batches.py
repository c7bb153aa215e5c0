"""Calls are gathered, sorted by length, halved where memory runs out, and none is lost. Without torch."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.errors import FatalModelError
from creval_hf.batches import Batcher


@dataclass(frozen=True)
class Line:
    length: int
    kind: str = "answer"

    @property
    def order(self) -> tuple[int]:
        return (self.length,)


class Machine:
    """Computes twice the length of a row; runs out of memory above a number of tokens, as padded."""

    def __init__(self, memory: int = 10**9, broken: Sequence[int] = ()) -> None:
        self.memory, self.broken = memory, broken
        self.batches: list[list[int]] = []
        self.released = 0
        self.hold: threading.Event | None = None
        self.begun = threading.Event()

    def rows(self, request: Any) -> Sequence[Line]:
        if request == "unreadable":
            raise FatalModelError("this request cannot be read")
        return [Line(each) if isinstance(each, int) else each for each in request]

    def compute(self, rows: Sequence[Any], cancelled: Callable[[int], bool]) -> Sequence[Any]:
        self.begun.set()
        if self.hold is not None:
            self.hold.wait(60)
        lengths = [row.length for row in rows]
        assert len({row.kind for row in rows}) == 1
        if max(lengths) * len(rows) > self.memory:
            raise MemoryError("no room")
        if set(lengths) & set(self.broken):
            raise ValueError("a row that nobody can compute")
        self.batches.append(lengths)
        return [2 * length for length in lengths]

    def is_out_of_memory(self, error: BaseException) -> bool:
        return isinstance(error, MemoryError)

    def release(self) -> None:
        self.released += 1


def run(machine: Machine, requests: Sequence[Any], most: int = 8) -> tuple[list[Any], Batcher]:
    """Hand requests in at the same time, and return what came of each."""
    batcher = Batcher(machine, most, "model test")

    async def main() -> list[Any]:
        return await asyncio.gather(*map(batcher.submit, requests), return_exceptions=True)

    try:
        return asyncio.run(main()), batcher
    finally:
        batcher.close()


def test_calls_that_come_together_are_sorted_by_length_into_batches() -> None:
    machine = Machine()
    found, _ = run(machine, [[length] for length in (3, 9, 1, 7, 5, 8)], most=4)
    assert found == [[6], [18], [2], [14], [10], [16]]
    assert machine.batches == [[9, 8, 7, 5], [3, 1]]


def test_a_batch_that_does_not_fit_is_halved_and_none_is_lost() -> None:
    machine = Machine(memory=40)
    found, batcher = run(machine, [[10, 10, 10]] * 5, most=16)
    assert found == [[20, 20, 20]] * 5
    assert sorted(each for batch in machine.batches for each in batch) == [10] * 15, "each row is computed once"
    assert max(map(len, machine.batches)) == 3 and machine.released == 2  # 15 -> 7 -> 3
    assert batcher.largest == 30


def test_what_does_not_fit_alone_fails_alone() -> None:
    machine = Machine(memory=40)
    found, _ = run(machine, [[10], [50], [20, 20], [60, 10]], most=16)
    assert found[0] == [20] and found[2] == [40, 40]
    for error in (found[1], found[3]):
        assert isinstance(error, FatalModelError) and "a single question does not fit" in str(error)
        assert not error.every_call


def test_a_row_that_fails_takes_no_other_along() -> None:
    machine = Machine(broken=[7])
    found, _ = run(machine, [[5], [7], [9], "unreadable", [6, 7]])
    assert found[0] == [10] and found[2] == [18]
    assert "ValueError: a row that nobody can compute" in str(found[1]) and isinstance(found[4], FatalModelError)
    assert "cannot be read" in str(found[3])


def test_kinds_are_not_mixed_and_an_empty_request_is_answered() -> None:
    machine = Machine()
    found, _ = run(machine, [[Line(4, "text"), Line(5, "text")], [4], []])
    assert found == [[8, 10], [8], []]
    assert sorted(machine.batches) == [[4], [5, 4]]


def test_a_cancelled_call_is_not_computed() -> None:
    machine = Machine()
    machine.hold = threading.Event()
    batcher = Batcher(machine, 8, "model test")

    async def main() -> Any:
        first = asyncio.ensure_future(batcher.submit([1]))
        await asyncio.to_thread(machine.begun.wait)
        second, third = asyncio.ensure_future(batcher.submit([2])), asyncio.ensure_future(batcher.submit([3]))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        assert machine.hold is not None
        machine.hold.set()
        return await asyncio.gather(first, third)

    assert asyncio.run(main()) == [[2], [6]]
    assert machine.batches == [[1], [3]]
    batcher.close()


def test_a_call_that_waits_when_the_model_is_closed_ends() -> None:
    machine = Machine()
    machine.hold = threading.Event()
    batcher = Batcher(machine, 1, "model test")

    async def main() -> list[Any]:
        calls = [asyncio.ensure_future(batcher.submit([length])) for length in (3, 2)]
        await asyncio.to_thread(machine.begun.wait)
        assert not batcher.idle
        closing = asyncio.ensure_future(asyncio.to_thread(batcher.close))
        while not batcher._closing:
            await asyncio.sleep(0)
        assert machine.hold is not None
        machine.hold.set()
        await closing
        found = await asyncio.gather(*calls, return_exceptions=True)
        with pytest.raises(FatalModelError, match="closed"):
            await batcher.submit([1])
        return found

    first, second = asyncio.run(main())
    assert first == [6] and "the model is closed" in str(second) and batcher.idle


@settings(max_examples=40, deadline=None)
@given(
    requests=st.lists(st.lists(st.integers(1, 60), min_size=1, max_size=4), min_size=1, max_size=12),
    memory=st.integers(1, 400),
    most=st.integers(1, 20),
)
def test_whatever_the_memory_each_call_has_its_answer_or_its_error(
    requests: list[list[int]], memory: int, most: int
) -> None:
    found, _ = run(Machine(memory), requests, most)
    for request, result in zip(requests, found, strict=True):
        if max(request) <= memory:
            assert result == [2 * length for length in request]
        else:
            assert isinstance(result, FatalModelError)

"""Lines from a file descriptor."""

from __future__ import annotations

import asyncio
import os

import pytest

from creval_people.seats.line_reader import LineReader


def written(data: bytes) -> LineReader:
    """A reader of a pipe that holds `data` and is closed."""
    source, sink = os.pipe()
    os.write(sink, data)
    os.close(sink)
    return LineReader(source)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"one\ntwo\n", ["one", "two", None]),
        (b"one\r\n\r\ntwo", ["one", "", "two", None]),
        (b"", [None]),
        ("größe\n".encode(), ["größe", None]),
        (b"\xff\xfe\n", ["��", None]),
    ],
)
def test_lines_come_one_by_one_and_then_the_end(data: bytes, lines: list[str | None]) -> None:
    reader = written(data)

    async def read() -> list[str | None]:
        return [await reader.line() for _ in lines]

    assert asyncio.run(read()) == lines


def test_a_line_that_comes_after_a_cancelled_wait_is_not_lost() -> None:
    source, sink = os.pipe()
    reader = LineReader(source)

    async def go() -> str | None:
        waiting = asyncio.create_task(reader.line())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        os.write(sink, b"late\n")
        return await reader.line()

    assert asyncio.run(go()) == "late"
    os.close(sink)

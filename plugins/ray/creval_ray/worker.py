"""A worker: a process of the cluster that holds a run's parts, and does what it is given. Imports no Ray."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from creval.plugin import Workshop

__all__ = ["Worker"]


class Worker:
    """Takes pieces of work by `push` and gives what comes of them, and what it asks, by `pull`.

    A piece is `{"id", "make": key}` or `{"id", "score": [task, samples]}`, an answer to a question `{"id", "answer"}`.
    What `pull` gives are `{"id", "done"}`, `{"id", "ask"}` and `{"tell"}`, in the order in which they came about.
    """

    def __init__(self) -> None:
        self._shop: Workshop | None = None
        self._out: list[dict[str, Any]] = []
        self._wake = asyncio.Event()
        self._asked: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._numbers = itertools.count()
        self._busy: set[asyncio.Task[None]] = set()

    async def open(
        self, brief: Mapping[str, Any], private: Mapping[str, Any], env: Mapping[str, str], tasks: Sequence[str]
    ) -> dict[str, Any]:
        """Open the run's parts. Returns who this is and what is open, or the reason why not."""
        os.environ.update(env)
        from creval.plugin import open_workshop

        about = {"pid": os.getpid()}
        try:
            self._shop = open_workshop(brief, private, self, tasks)
        except Exception as error:
            from creval.plugin import crossing_error

            return {**about, "raised": crossing_error(error)}
        return {**about, **self._shop.told()}

    async def push(self, pieces: Sequence[Mapping[str, Any]]) -> None:
        """Begin pieces of work, and take answers."""
        for piece in pieces:
            if "answer" in piece:
                asked = self._asked.pop(piece["id"], None)
                if asked is not None and not asked.done():
                    asked.set_result(piece["answer"])
                continue
            task = asyncio.create_task(self._do(piece))
            self._busy.add(task)
            task.add_done_callback(self._busy.discard)

    async def pull(self) -> dict[str, Any]:
        """Wait for something to tell, and return all of it, with what the models have done so far."""
        await self._wake.wait()
        self._wake.clear()
        told, self._out = self._out, []
        assert self._shop is not None
        return {"messages": told, "told": self._shop.told()}

    async def stop(self) -> None:
        """Leave what is being done and close the run's parts."""
        for task in self._busy:
            task.cancel()
        await asyncio.gather(*self._busy, return_exceptions=True)
        if self._shop is not None:
            await self._shop.close()

    async def ask(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the run something."""
        number = next(self._numbers)
        self._asked[number] = asyncio.get_running_loop().create_future()
        self._tell({"id": number, "ask": question})
        try:
            return await self._asked[number]
        finally:
            self._asked.pop(number, None)

    def tell(self, note: Mapping[str, Any]) -> None:
        """Let the run know something."""
        self._tell({"tell": note})

    def _tell(self, message: dict[str, Any]) -> None:
        self._out.append(message)
        self._wake.set()

    async def _do(self, piece: Mapping[str, Any]) -> None:
        assert self._shop is not None
        try:
            done = await (self._shop.make(piece["make"]) if "make" in piece else self._shop.score(*piece["score"]))
        except Exception as error:
            from creval.plugin import crossing_error

            done = {"raised": crossing_error(error)}
        self._tell({"id": piece["id"], "done": done})

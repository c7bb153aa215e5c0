"""The actor: a process of the cluster that runs a worker. Imports no Ray."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from creval_ray.worker import Worker
    from creval_ray.worker_spec import WorkerSpec

__all__ = ["WorkerActor"]


class WorkerActor:
    """Takes messages by `push` and returns results and questions by `pull`.

    Work is `{"id", "make": key}` or `{"id", "score": [task, samples]}`, an answer to a question `{"id", "answer"}`.
    `pull` returns `{"id", "result"}`, `{"id", "ask"}` and `{"note"}`, in the order in which they occurred.
    """

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._out: list[dict[str, Any]] = []
        self._wake = asyncio.Event()
        self._asked: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._numbers = itertools.count()
        self._busy: set[asyncio.Task[None]] = set()

    async def open(
        self, spec: WorkerSpec, private: Mapping[str, Any], env: Mapping[str, str], tasks: Sequence[str]
    ) -> dict[str, Any]:
        """Open the run's parts. Returns this process's id and the worker's status, or the error."""
        os.environ.update(env)
        from creval_ray.wire import encode_error
        from creval_ray.worker import open_worker

        process = {"pid": os.getpid()}
        try:
            self._worker = open_worker(spec, private, self, tasks)
        except Exception as error:
            return {**process, "raised": encode_error(error)}
        return {**process, **self._worker.status()}

    async def push(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Start work, and accept answers."""
        for message in messages:
            if "answer" in message:
                asked = self._asked.pop(message["id"], None)
                if asked is not None and not asked.done():
                    asked.set_result(message["answer"])
                continue
            task = asyncio.create_task(self._do(message))
            self._busy.add(task)
            task.add_done_callback(self._busy.discard)

    async def pull(self) -> dict[str, Any]:
        """Wait for messages, and return all of them, with the worker's status."""
        await self._wake.wait()
        self._wake.clear()
        out, self._out = self._out, []
        assert self._worker is not None
        return {"messages": out, "status": self._worker.status()}

    async def stop(self) -> None:
        """Cancel running work and close the run's parts."""
        for task in self._busy:
            task.cancel()
        await asyncio.gather(*self._busy, return_exceptions=True)
        if self._worker is not None:
            await self._worker.close()

    async def ask(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the coordinator a question."""
        number = next(self._numbers)
        self._asked[number] = asyncio.get_running_loop().create_future()
        self._send({"id": number, "ask": question})
        try:
            return await self._asked[number]
        finally:
            self._asked.pop(number, None)

    def notify(self, note: Mapping[str, Any]) -> None:
        """Send the coordinator a note."""
        self._send({"note": note})

    def _send(self, message: dict[str, Any]) -> None:
        self._out.append(message)
        self._wake.set()

    async def _do(self, message: Mapping[str, Any]) -> None:
        assert self._worker is not None
        try:
            if "make" in message:
                result = await self._worker.make(message["make"])
            else:
                result = await self._worker.score(*message["score"])
        except Exception as error:
            from creval_ray.wire import encode_error

            result = {"raised": encode_error(error)}
        self._send({"id": message["id"], "result": result})

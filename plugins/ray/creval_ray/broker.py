"""Give workers slots at providers, shares of the budget and answers of other roles."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from typing import Any

from creval.plugin import CrevalError, Reply
from creval.plugin.workers import AdaptiveLimiter, CallOrigin, Setup, Slot, Ticket
from creval_ray.wire import decode_request, encode_error, encode_reply

__all__ = ["Broker"]

_Held = Callable[[Mapping[str, Any]], None]


class _SpentMeanwhileError(Exception):
    """The estimate is based on outdated spending."""


class Broker:
    """Answers workers' questions from the run's one budget, one ledger and one limit per provider.

    Everything that a worker has, or waits for, is recorded under its name and its number, so that it can be
    released if the worker is lost.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._tasks = {task.name: task for task in setup.tasks}
        self._held: dict[tuple[str, int], _Held] = {}
        self._waiting: dict[tuple[str, int], asyncio.Future[Any]] = {}
        self._unwanted: set[tuple[str, int]] = set()
        """What was released before its question was handled: questions are handled in tasks, notes at once."""

    async def answer(self, worker: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer one question; an error is returned as data."""
        handlers: Mapping[str, Callable[[str, Mapping[str, Any]], Coroutine[Any, Any, Mapping[str, Any]]]] = {
            "admit": self._admit,
            "acquire": self._acquire,
            "role": self._ask,
            "cost": self._cost,
        }
        try:
            return await handlers[question["what"]](worker, question)
        except CrevalError as error:
            return {"raised": encode_error(error)}

    def notify(self, worker: str, note: Mapping[str, Any]) -> None:
        """Handle a note that needs no answer."""
        options = self._setup.models.options
        if note["what"] == "spend":
            options.budget.spend(note["cost"])
        elif note["what"] == "unreadable":
            self._setup.ledger.unreadable(Reply((), record=note["record"]), note["reason"])
        else:
            self._release((worker, note["number"]), note.get("outcome", {}))

    def forget(self, worker: str) -> None:
        """Release everything that a worker has or waits for."""
        for key in [*self._waiting, *self._held]:
            if key[0] == worker:
                self._release(key, {})
        self._unwanted = {key for key in self._unwanted if key[0] != worker}

    def _release(self, key: tuple[str, int], outcome: Mapping[str, Any]) -> None:
        waiting, release = self._waiting.pop(key, None), self._held.pop(key, None)
        if waiting is not None:
            waiting.cancel()
        elif release is not None:
            release(outcome)
        else:
            self._unwanted.add(key)

    async def _wait(self, key: tuple[str, int], work: Callable[[], Awaitable[_Held]]) -> bool:
        """Wait for a slot or ticket. Return False if the worker gave up, or was lost, before."""

        async def hold() -> None:
            self._held[key] = await work()  # recorded at once: whoever waits here may be cancelled at this moment
            self._waiting.pop(key, None)

        if key in self._unwanted:
            self._unwanted.remove(key)
            return False
        waiting = self._waiting[key] = asyncio.ensure_future(hold())
        try:
            await waiting
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # the run ends, or the worker is lost
                raise
            return False
        finally:
            self._waiting.pop(key, None)
        return True

    async def _admit(self, worker: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
        budget, amount = self._setup.models.options.budget, question["amount"]
        stale = amount is not None and question["cost"] != budget.cost and not budget.fits(amount)
        if stale:
            return {"admitted": False, "cost": budget.cost}
        estimates: Iterator[float | None] = iter([amount])

        def estimate() -> float | None:
            try:
                return next(estimates)
            except StopIteration:
                raise _SpentMeanwhileError from None

        async def admitted() -> _Held:
            ticket: Ticket = await budget.admit(estimate)
            return lambda outcome: budget.settle(ticket)

        try:
            held = await self._wait((worker, question["number"]), admitted)
        except _SpentMeanwhileError:
            held = False
        return {"admitted": held, "cost": budget.cost}

    async def _acquire(self, worker: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
        provider, base_url, ceiling = question["of"]
        options = self._setup.models.options
        limiter: AdaptiveLimiter = options.limiters.get(provider, base_url, ceiling, options.retry_policy())

        async def acquired() -> _Held:
            slot: Slot = await limiter.acquire()
            return lambda outcome: limiter.release(slot, **outcome)

        await self._wait((worker, question["number"]), acquired)
        return {"limit": limiter.limit}

    async def _ask(self, worker: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
        request = decode_request(question["request"])
        task = self._tasks[request.origin.key.task]
        model = self._setup.models.get(request.origin.role, task.role_models.get(request.origin.role))
        return encode_reply(await self._setup.ledger.ask(model, request, CallOrigin(*question["asking"])))

    async def _cost(self, worker: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"cost": self._setup.models.options.budget.cost}

"""The spending and call limit of a run, shared by all its models."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from creval.errors import BudgetError, UsageError
from creval.format import counted

__all__ = ["Budget", "Ticket"]


@dataclass(slots=True)
class Ticket:
    """One admitted call with the cost reserved for it, in US dollars."""

    reserved: float
    settled: bool = False
    outer: Ticket | None = None


class Budget:
    """`--max-cost` (US dollars) and `--max-calls` over all models of a run.

    A call is a question that needs an answer; failed tries do not count again, and answers from the cache do not count.
    `max_calls` is never exceeded.

    Cost is known only afterwards, so each call in flight reserves an amount: the cost of that model's most expensive
    call so far; before the first answer, the price table's estimate; without an estimate, everything that is left. A
    call for which spent + reserved would exceed `max_cost` waits until calls in flight are settled, and is refused if
    there are none. So spending can exceed the limit only by the amount by which calls in flight cost more than the most
    expensive call before them. As long as nothing has been spent, one call at a time is admitted, whatever its
    estimate.

    `spent_cost` and `spent_calls` are the spending of an interrupted run. `within` is the budget of a sweep over all of
    its runs; it already contains what they spent before.
    """

    def __init__(
        self,
        max_cost: float | None = None,
        max_calls: int | None = None,
        spent_cost: float = 0.0,
        spent_calls: int = 0,
        within: Budget | None = None,
    ) -> None:
        if max_cost is not None and not 0 <= max_cost < float("inf"):
            raise UsageError(f"--max-cost {max_cost} is not an amount of US dollars", fix="Give a number of 0 or more.")
        if max_calls is not None and max_calls < 0:
            raise UsageError(f"--max-calls {max_calls} is not a number of calls", fix="Give a whole number, 0 or more.")
        self.max_cost = max_cost
        self.max_calls = max_calls
        self.cost = spent_cost
        self.calls = spent_calls
        self._within = within
        self._reserved = 0.0
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def left(self) -> float:
        """The US dollars that may still be spent; use it only if there is a limit."""
        assert self.max_cost is not None
        left = max(0.0, self.max_cost - self.cost)
        return left if self._within is None or self._within.max_cost is None else min(left, self._within.left)

    async def admit(self, estimate: Callable[[], float | None], owed: bool = False) -> Ticket:
        """Admit one call and reserve `estimate()` US dollars; waits if only calls in flight prevent it.

        The estimate is made again after each wait. None: the call is free, and the cost limit does not apply. A call
        that is `owed` was already sent (it is pending in a batch): it counts, but no limit stops it. Raises BudgetError
        if a limit is reached. The ticket must be settled, whatever the call's outcome.
        """
        while True:
            if not owed:
                self._check_calls()
            amount = None if self.max_cost is None else estimate()
            if owed or self.max_cost is None or amount is None or self.fits(amount):
                break
            if not self._in_flight or self.cost >= self.max_cost:
                raise BudgetError(
                    f"spent ${self.cost:.4f} of --max-cost ${self.max_cost:g}; the next call may cost ${amount:.4f}",
                    fix="Give a higher --max-cost.",
                )
            await self._wait()
        self.calls += 1
        self._in_flight += 1
        self._reserved += amount or 0.0
        ticket = Ticket(amount or 0.0)
        if self._within is not None:
            try:
                ticket.outer = await self._within.admit(estimate, owed)
            except BaseException:
                self.calls -= 1
                self.settle(ticket)
                raise
        return ticket

    async def check_next_try(self, expected: float, why: str) -> None:
        """Check the cost before a call is retried: failed tries may have cost money.

        Raises BudgetError if the spending, including the expected cost of the try (US dollars), would exceed the limit.
        """
        if self.max_cost is not None and self.cost and self.cost + expected > self.max_cost:
            raise BudgetError(
                f"spent ${self.cost:.4f} of --max-cost ${self.max_cost:g}, some of it on a call that has to be tried "
                f"again ({why}); the next try may cost ${expected:.4f}",
                fix="Give a higher --max-cost.",
            )
        if self._within is not None:
            await self._within.check_next_try(expected, why)

    def settle(self, ticket: Ticket) -> None:
        """Release the reserved amount; idempotent."""
        if ticket.settled:
            return
        ticket.settled = True
        self._reserved -= ticket.reserved
        self._in_flight -= 1
        if not self._in_flight:
            self._reserved = 0.0
        self._wake()
        if ticket.outer is not None and self._within is not None:
            self._within.settle(ticket.outer)

    def spend(self, cost: float) -> None:
        """Record the cost of a try, in US dollars."""
        self.cost += cost
        if self._within is not None:
            self._within.spend(cost)

    def _check_calls(self) -> None:
        if self.max_calls is not None and self.calls >= self.max_calls:
            raise BudgetError(
                f"made {counted(self.calls, 'calls')}, and --max-calls allows {self.max_calls}",
                fix="Give a higher --max-calls.",
            )

    def fits(self, estimate: float) -> bool:
        """Whether a call with an estimate in US dollars can be made now."""
        assert self.max_cost is not None
        if self.cost >= self.max_cost:
            return False
        if not self._in_flight and not self.cost:
            return True
        return self.cost + self._reserved + estimate <= self.max_cost

    async def _wait(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        finally:
            if waiter in self._waiting:
                self._waiting.remove(waiter)

    def _wake(self) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)

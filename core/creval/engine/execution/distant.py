"""What a worker has in place of the run's budget, limiters, ledger and other roles: the way to those of the run.

Each has the small interface of the real one. Only providers behind a network share their limit over the workers;
a model in the worker's own process is limited by what that process can bear.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Never

from creval.engine.execution.faults import read_error
from creval.engine.execution.packets import read_reply, request_data
from creval.engine.roles.ledger import CallOrigin, Ledger
from creval.errors import UsageError
from creval.models.budget import Budget, Ticket
from creval.models.limiter import AdaptiveLimiter, LimiterPool, Slot
from creval.models.model import Model
from creval.models.provider_traits import ProviderTraits
from creval.models.retries import RetryPolicy
from creval.types.execution import Link
from creval.types.messages import GenerateRequest, Reply

__all__ = ["DistantBudget", "DistantLedger", "DistantLimiters", "distant_roles"]

_NUMBERS = itertools.count()


async def _asked(link: Link, question: Mapping[str, Any]) -> Mapping[str, Any]:
    """Ask, and raise where the answer is an error."""
    told = await link.ask(question)
    if "raised" in told:
        raise read_error(told["raised"])
    return told


@dataclass(slots=True)
class _DistantTicket(Ticket):
    """An admitted call; None where the run has no limits and the call was not asked for."""

    number: int | None = None


class DistantBudget(Budget):
    """The run's budget, asked over a link. Without limits there is nothing to ask."""

    def __init__(self, link: Link, max_cost: float | None, max_calls: int | None) -> None:
        super().__init__(max_cost, max_calls)
        self._link = link

    async def admit(self, estimate: Callable[[], float | None], owed: bool = False) -> Ticket:
        """Admit one call; the estimate is taken anew where it was made by a spending that is no longer true.

        Nothing is `owed` at a worker: batches are gathered by the run itself.
        """
        if self.max_cost is None and self.max_calls is None:
            self.calls += 1
            return _DistantTicket(0.0)
        while True:
            amount = None if self.max_cost is None else estimate()
            number = next(_NUMBERS)
            question = {"what": "admit", "number": number, "amount": amount, "cost": self.cost}
            try:
                told = await _asked(self._link, question)
            except asyncio.CancelledError:
                self._link.tell({"what": "settle", "number": number})
                raise
            self.cost = told["cost"]
            if told["admitted"]:
                return _DistantTicket(amount or 0.0, number=number)

    async def check_next_try(self, expected: float, why: str) -> None:
        """Look at the run's spending before a call is tried again. Raises BudgetError."""
        self.cost = (await _asked(self._link, {"what": "cost"}))["cost"]
        await super().check_next_try(expected, why)

    def settle(self, ticket: Ticket) -> None:
        """Give back what was set aside; idempotent."""
        number = getattr(ticket, "number", None)
        if not ticket.settled and number is not None:
            self._link.tell({"what": "settle", "number": number})
        ticket.settled = True

    def spend(self, cost: float) -> None:
        """Book what a try cost, in US dollars."""
        self.cost += cost
        self._link.tell({"what": "spend", "cost": cost})


class _DistantSlot(Slot):
    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        super().__init__(0)
        self.number = number


class _DistantLimiter(AdaptiveLimiter):
    """The run's limit of one provider, asked over a link; `in_flight` are this worker's own calls."""

    def __init__(
        self, link: Link, provider: str, base_url: str | None, ceiling: int, policy: RetryPolicy | None
    ) -> None:
        super().__init__(ceiling, policy=policy)
        self._link = link
        self._of = [provider, base_url, ceiling]

    async def acquire(self) -> Slot:
        """Wait for a place. Cancelling the wait leaves no place taken."""
        number = next(_NUMBERS)
        try:
            told = await _asked(self._link, {"what": "acquire", "of": self._of, "number": number})
        except asyncio.CancelledError:
            self._link.tell({"what": "release", "number": number, "came": {}})
            raise
        self._limit = told["limit"]
        self._in_flight += 1
        return _DistantSlot(number)

    def release(self, slot: Slot, *, answered: bool = False, limited: bool = False, pause: float = 0.0) -> None:
        """Give the place back, with what came of it."""
        assert isinstance(slot, _DistantSlot)
        self._in_flight -= 1
        came = {"answered": answered, "limited": limited, "pause": pause}
        self._link.tell({"what": "release", "number": slot.number, "came": came})


class DistantLimiters(LimiterPool):
    """The run's limits of providers behind a network; those in this process are this process's own."""

    def __init__(self, link: Link) -> None:
        super().__init__()
        self._link = link
        self._distant: dict[tuple[str, str | None], _DistantLimiter] = {}

    def get(
        self, provider: str, base_url: str | None, ceiling: int, policy: RetryPolicy | None = None, remote: bool = True
    ) -> AdaptiveLimiter:
        """Return the limiter of a provider, made on first use."""
        if not remote:
            return super().get(provider, base_url, ceiling, policy, remote)
        made = _DistantLimiter(self._link, provider, base_url, ceiling, policy)
        return self._distant.setdefault((provider, base_url), made)


class DistantLedger(Ledger):
    """The run's ledger, asked over a link: it asks and pays the models of other roles, and writes what they say."""

    def __init__(self, link: Link, seed: int) -> None:
        super().__init__(seed)
        self._link = link

    async def ask(self, model: Model, request: GenerateRequest, asking: CallOrigin) -> Reply:
        """Return the answer to a question, kept or new. Raises what the run's own ledger raises."""
        question = {"what": "role", "request": request_data(request), "asking": list(asking)}
        return read_reply(await _asked(self._link, question))

    def unreadable(self, reply: Reply, reason: str) -> None:
        """Say that the asker could not read an answer."""
        if reply.record is not None:
            self._link.tell({"what": "unreadable", "record": reply.record, "reason": reason})


class _DistantModel(Model):
    """A model that the run itself asks: here only what is said of it is known."""

    def __init__(self, about: Mapping[str, Any]) -> None:
        self.spec = about["spec"]
        self._about = dict(about)

    @property
    def traits(self) -> ProviderTraits:
        return ProviderTraits(base_url=self._about["base_url"], identity=self._about["identity"])

    def describe(self) -> dict[str, Any]:
        """Plain data of the model."""
        return self._about

    def prepare(self) -> None:
        """The run's own model is ready."""

    def rest(self) -> None:
        """The run's own model rests when the run says so."""

    async def generate(self, request: GenerateRequest) -> Never:
        """It is asked through the ledger alone."""
        raise UsageError(
            f"{self.spec} is asked by the run itself", cure="Ask it by the context: context.ask(role, ...)."
        )

    async def close(self) -> None:
        """There is nothing to close."""


def distant_roles(known: Mapping[str, Mapping[str, Any]]) -> Callable[[str, str | None], Model]:
    """Return who finds the models of other roles, of which `known` holds the descriptions by role."""
    models = {role: _DistantModel(about) for role, about in known.items()}

    def find(role: str, default: str | None) -> Model:
        found = models.get(role) or models.get(f"{role}={default}")
        if found is None:
            raise UsageError(
                f"no model plays the role {role!r}", where="--role", cure=f"Add: --role {role}=<provider>/<model>"
            )
        return found

    return find

"""A worker's proxies for the run's budget, limiters, ledger and models of other roles.

Each has the small interface of the real one. Only providers behind a network share their limit across workers;
a model in the worker's process has a separate limit.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Never, Protocol

from creval.plugin import Reply, UsageError
from creval.plugin.models import GenerateRequest, ProviderTraits
from creval.plugin.workers import (
    AdaptiveLimiter,
    Budget,
    CallOrigin,
    Ledger,
    LimiterPool,
    Model,
    RetryPolicy,
    Slot,
    Ticket,
)
from creval_ray.wire import decode_error, decode_reply, encode_request

__all__ = ["Channel", "RemoteBudget", "RemoteLedger", "RemoteLimiters", "remote_roles"]

_NUMBERS = itertools.count()


class Channel(Protocol):
    """A worker's connection to the run's coordinator. Its messages may not be logged."""

    async def ask(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the answer of `Coordinator.answer`."""

    def notify(self, note: Mapping[str, Any]) -> None:
        """Send a note to `Coordinator.notify`, after all earlier questions and notes."""


async def _checked_answer(channel: Channel, question: Mapping[str, Any]) -> Mapping[str, Any]:
    """Ask, and raise the answer if it is an error."""
    answer = await channel.ask(question)
    if "raised" in answer:
        raise decode_error(answer["raised"])
    return answer


@dataclass(slots=True)
class _RemoteTicket(Ticket):
    """An admitted call; None if the run has no limits and the call was not requested."""

    number: int | None = None


class RemoteBudget(Budget):
    """The run's budget, accessed over the channel. Without limits no message is sent."""

    def __init__(self, channel: Channel, max_cost: float | None, max_calls: int | None) -> None:
        super().__init__(max_cost, max_calls)
        self._channel = channel

    async def admit(self, estimate: Callable[[], float | None], owed: bool = False) -> Ticket:
        """Admit one call; the estimate is repeated if it is based on outdated spending.

        `owed` is ignored at a worker: the run itself collects batches.
        """
        if self.max_cost is None and self.max_calls is None:
            self.calls += 1
            return _RemoteTicket(0.0)
        while True:
            amount = None if self.max_cost is None else estimate()
            number = next(_NUMBERS)
            question = {"what": "admit", "number": number, "amount": amount, "cost": self.cost}
            try:
                answer = await _checked_answer(self._channel, question)
            except asyncio.CancelledError:
                self._channel.notify({"what": "settle", "number": number})
                raise
            self.cost = answer["cost"]
            if answer["admitted"]:
                return _RemoteTicket(amount or 0.0, number=number)

    async def check_next_try(self, expected: float, why: str) -> None:
        """Check the run's spending before a retry. Raises BudgetError."""
        self.cost = (await _checked_answer(self._channel, {"what": "cost"}))["cost"]
        await super().check_next_try(expected, why)

    def settle(self, ticket: Ticket) -> None:
        """Release what was reserved; idempotent."""
        number = getattr(ticket, "number", None)
        if not ticket.settled and number is not None:
            self._channel.notify({"what": "settle", "number": number})
        ticket.settled = True

    def spend(self, cost: float) -> None:
        """Record the cost of a try, in US dollars."""
        self.cost += cost
        self._channel.notify({"what": "spend", "cost": cost})


class _RemoteSlot(Slot):
    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        super().__init__(0)
        self.number = number


class _RemoteLimiter(AdaptiveLimiter):
    """The run's limit of one provider, accessed over the channel; `in_flight` counts only this worker's calls."""

    def __init__(
        self, channel: Channel, provider: str, base_url: str | None, ceiling: int, policy: RetryPolicy | None
    ) -> None:
        super().__init__(ceiling, policy=policy)
        self._channel = channel
        self._of = [provider, base_url, ceiling]

    async def acquire(self) -> Slot:
        """Wait for a slot. If the wait is cancelled, no slot is taken."""
        number = next(_NUMBERS)
        try:
            answer = await _checked_answer(self._channel, {"what": "acquire", "of": self._of, "number": number})
        except asyncio.CancelledError:
            self._channel.notify({"what": "release", "number": number, "outcome": {}})
            raise
        self._limit = answer["limit"]
        self._in_flight += 1
        return _RemoteSlot(number)

    def release(self, slot: Slot, *, answered: bool = False, limited: bool = False, pause: float = 0.0) -> None:
        """Release the slot, with the outcome of the call."""
        assert isinstance(slot, _RemoteSlot)
        self._in_flight -= 1
        outcome = {"answered": answered, "limited": limited, "pause": pause}
        self._channel.notify({"what": "release", "number": slot.number, "outcome": outcome})


class RemoteLimiters(LimiterPool):
    """The run's limits of providers behind a network; providers in this process have limits of this process."""

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self._channel = channel
        self._remote: dict[tuple[str, str | None], _RemoteLimiter] = {}

    def get(
        self, provider: str, base_url: str | None, ceiling: int, policy: RetryPolicy | None = None, remote: bool = True
    ) -> AdaptiveLimiter:
        """Return the limiter of a provider, created on first use."""
        if not remote:
            return super().get(provider, base_url, ceiling, policy, remote)
        made = _RemoteLimiter(self._channel, provider, base_url, ceiling, policy)
        return self._remote.setdefault((provider, base_url), made)


class RemoteLedger(Ledger):
    """The run's ledger, accessed over the channel: the run calls and pays the models, and records their answers."""

    def __init__(self, channel: Channel, seed: int) -> None:
        super().__init__(seed)
        self._channel = channel

    async def ask(self, model: Model, request: GenerateRequest, asking: CallOrigin) -> Reply:
        """Return the answer to a question, stored or new. Raises the errors of the run's ledger."""
        question = {"what": "role", "request": encode_request(request), "asking": list(asking)}
        return decode_reply(await _checked_answer(self._channel, question))

    def unreadable(self, reply: Reply, reason: str) -> None:
        """Report that an answer could not be read."""
        if reply.record is not None:
            self._channel.notify({"what": "unreadable", "record": reply.record, "reason": reason})


class _RemoteModel(Model):
    """A model that the run itself calls: only its description is known here."""

    def __init__(self, about: Mapping[str, Any]) -> None:
        self.spec = about["spec"]
        self._about = dict(about)

    @property
    def traits(self) -> ProviderTraits:
        return ProviderTraits(base_url=self._about["base_url"], identity=self._about["identity"])

    @property
    def modalities(self) -> None:
        """Return None: the run has checked the model's modalities."""
        return None

    def describe(self) -> dict[str, Any]:
        """Return plain data of the model."""
        return self._about

    def prepare(self) -> None:
        """Do nothing: the run's model is ready."""

    def rest(self) -> None:
        """Do nothing: the run releases its model."""

    async def generate(self, request: GenerateRequest) -> Never:
        """Raise UsageError: only the ledger calls this model."""
        raise UsageError(
            f"{self.spec} is called by the run itself", fix="Call it through the context: context.ask(role, ...)."
        )

    async def close(self) -> None:
        """Do nothing."""


def remote_roles(known: Mapping[str, Mapping[str, Any]]) -> Callable[[str, str | None], Model]:
    """Return the function that finds the models of other roles; `known` maps roles to their descriptions."""
    models = {role: _RemoteModel(about) for role, about in known.items()}

    def find(role: str, default: str | None) -> Model:
        found = models.get(role) or models.get(f"{role}={default}")
        if found is None:
            raise UsageError(
                f"no model plays the role {role!r}", where="--role", fix=f"Add: --role {role}=<provider>/<model>"
            )
        return found

    return find

"""The facade over one model: cache, budget, limiter and retries around a provider."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from creval.errors import FatalModelError, ModelError, RetryableModelError, UsageError
from creval.format import counted
from creval.models.answers.finish_reasons import broken_off, with_known_finish_reasons
from creval.models.answers.flags import DEFAULT_LEFT_OUT, UNKNOWN_FINISH_REASON
from creval.models.answers.read_answers import read_answers
from creval.models.batching import BOUGHT, OWED, BatchedProvider
from creval.models.budget import Budget
from creval.models.cache_key import cache_key
from creval.models.first_call import FirstCalls
from creval.models.limiter import AdaptiveLimiter
from creval.models.model_options import ModelSpec
from creval.models.model_stats import ModelStats, Tally
from creval.models.prices import Price
from creval.models.provider_traits import ProviderTraits
from creval.models.retries import Clock, RetryPolicy
from creval.models.secrets import Mask, likely_secrets, masked_reply
from creval.types.components import Provider
from creval.types.likelihoods import LoglikelihoodCall, LoglikelihoodProvider
from creval.types.messages import GenerateRequest, LostUsage, Reply, Usage

if TYPE_CHECKING:
    from creval.models.response_cache import ResponseCache

__all__ = ["Model", "ModelParts", "price_of"]

_LOG = logging.getLogger("creval")
_CHARACTERS_A_TOKEN = 3  # a low value for English prose; used only for estimates
_PASSED_OVER = 20
"""The 429s that a call may get, while others are answered, before they count as tries: it may be too large."""
_INCOMPLETE = frozenset({"length", "content_filter", "error", "unknown"})  # finish reasons; such replies are not cached


class ModelParts(NamedTuple):
    """The parts of a Model."""

    provider: Provider
    traits: ProviderTraits
    limiter: AdaptiveLimiter
    budget: Budget
    retries: RetryPolicy
    clock: Clock
    price: Price | None = None
    cache: ResponseCache | None = None
    batches: BatchedProvider | None = None
    """The provider, if calls are sent in batches."""


class Model:
    """A model that answers, or raises.

    `generate` and `loglikelihood` go through cache, budget, limiter and provider, with retries by the retry policy.
    They are safe to cancel: slots and budget are released. Use it from one event loop, and close it at the end.
    """

    def __init__(self, spec: ModelSpec, parts: ModelParts) -> None:
        self.spec = spec.text
        self._name = spec
        self._parts = parts
        self._tally = Tally()
        self._closed: FatalModelError | None = None
        self._warned = False
        self._first_calls = FirstCalls()
        secrets = (*getattr(parts.provider, "secrets", ()), *likely_secrets()) if parts.traits.remote else ()
        self._mask = Mask(secrets)

    @property
    def traits(self) -> ProviderTraits:
        """The traits of the provider."""
        return self._parts.traits

    @property
    def batched(self) -> bool:
        """Whether calls are sent in batches."""
        return self._parts.batches is not None

    @property
    def price(self) -> Price | None:
        """The price by the table, or None."""
        return self._parts.price

    @property
    def modalities(self) -> frozenset[str] | None:
        """The media that the model accepts by its provider or the price table; None if neither states them."""
        price, declared = self._parts.price, self.traits.modalities
        return declared if declared is not None or price is None else price.reads

    def describe(self) -> dict[str, Any]:
        """Return plain data for the manifest: the model and its settings, without secrets."""
        price = self._parts.price
        return {
            "spec": self.spec,
            "provider": self._name.provider,
            "model": self._name.model,
            "base_url": self.traits.base_url,
            "identity": dict(self.traits.identity),
            "price": {"name": price.name, "input": price.input, "output": price.output} if price else None,
        }

    def check(self) -> None:
        """Raise UsageError if something for a first call is missing, such as a key; makes no call."""
        self._call_if_defined("check")

    def prepare(self) -> None:
        """Let the provider do slow work before the first call."""
        self._call_if_defined("prepare")

    def rest(self) -> None:
        """Let the provider release what it can make again, as no further call is expected."""
        self._call_if_defined("rest")

    def _call_if_defined(self, name: str) -> None:
        method = getattr(self._parts.provider, name, None)
        if callable(method):
            method()

    def stats(self) -> ModelStats:
        """Return the statistics so far."""
        return self._tally.snapshot(self._parts.limiter.in_flight, self._parts.limiter.limit)

    def estimate(self, request: GenerateRequest) -> float | None:
        """Return an estimate of the highest cost of a request in US dollars by the price table; None without a price.

        Without `max_tokens` the answer is assumed to be as long as the question.
        """
        if self.traits.free:
            return 0.0
        price = self._parts.price
        if price is None:
            return None
        return price_of(request, price)

    async def generate(self, request: GenerateRequest) -> Reply:
        """Return the reply with `request.n` completions.

        Raises ModelError if the call failed after all tries, BudgetError if the budget is used up, UsageError if the
        request or the set-up is wrong.
        """
        request, left_out = _without_defaults(request, self.traits.exclusive)
        reply = await self._answer(request)
        if left_out:
            reply = replace(reply, flags=tuple(dict.fromkeys((*reply.flags, DEFAULT_LEFT_OUT))))
        return reply if self.traits.verbatim else read_answers(reply, request)

    @property
    def gives_loglikelihoods(self) -> bool:
        """Whether `loglikelihood` is available: the provider has the method, and calls are not sent in batches."""
        return callable(getattr(self._parts.provider, "loglikelihood", None)) and not self.batched

    async def loglikelihood(self, call: LoglikelihoodCall) -> Reply:
        """Return the reply with one completion for each request of the call, its tokens with their log-probabilities.

        Raises as `generate` does, and UsageError if the model has no log-likelihoods.
        """
        if not self.gives_loglikelihoods:
            raise UsageError(f"{self.spec} returns no log-likelihoods of given texts", where="--model")
        return await self._answer(call)

    async def _answer(self, request: GenerateRequest) -> Reply:
        """Return the reply as it was sent, from the cache or the provider."""
        cache = self._parts.cache
        if cache is None:
            return await self._ask(request)
        key = cache_key(self._name, self.traits, request)
        stored = cache.get(key)
        if stored is not None:
            self._tally.cached += 1
            return replace(stored, cached=True, cost=0.0)
        reply = await self._ask(request)
        complete = all(c.finish_reason not in _INCOMPLETE for c in reply.completions)
        if complete and UNKNOWN_FINISH_REASON not in reply.flags:
            cache.put(key, reply)
        return reply

    async def close(self) -> None:
        """Close connections, and write pending entries of the cache."""
        try:
            await self._parts.provider.close()
        finally:
            if self._parts.cache is not None:
                await asyncio.to_thread(self._parts.cache.close)

    async def _ask(self, request: GenerateRequest) -> Reply:
        """Make one call, or several if the provider returns fewer completions per call than requested."""
        if request.n == 1:
            return await self._call(request)
        first = await self._call(request if self.traits.honours_n else replace(request, n=1))
        missing = request.n - len(first.completions)
        if missing <= 0 or any(c.finish_reason == "content_filter" and not c.text for c in first.completions):
            return replace(first, completions=tuple(first.completions)[: request.n])
        try:
            async with asyncio.TaskGroup() as group:
                jobs = [group.create_task(self._call(_nth(request, request.n - missing + i))) for i in range(missing)]
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return _joined([first, *(task.result() for task in jobs)])

    async def _call(self, request: GenerateRequest) -> Reply:
        """Make one call with its tries, within the budget."""
        budget, batches = self._parts.budget, self._parts.batches
        earlier = batches.earlier_state(request) if batches is not None else None
        if earlier == BOUGHT:
            self._tally.cached += 1
            return await self._tries(request)
        ticket = await budget.admit(lambda: self._set_aside(request), owed=earlier == OWED)
        try:
            reply = await self._tries(request)
        except ModelError:
            self._tally.errors += 1
            raise
        finally:
            budget.settle(ticket)
        self._tally.calls += 1
        if reply.cost is None and budget.max_cost is not None:  # no usage was reported; the limit still holds
            budget.spend(self._expected(request) or 0.0)
        return reply

    def _set_aside(self, request: GenerateRequest) -> float | None:
        """Return the reservation for a call; everything left if no cost is known, so that it runs alone."""
        budget = self._parts.budget
        if self.traits.free or budget.max_cost is None:
            return None
        expected = self._expected(request)
        return budget.left if expected is None else expected

    def _expected(self, request: GenerateRequest) -> float | None:
        """Return the likely cost of a call: that of the most expensive one so far, before the first the estimate.

        A batch has very many calls in flight, so for a batch it is the larger of the two.
        """
        if self._parts.batches is not None:
            return max(self._tally.dearest, self.estimate(request) or 0.0) if self._parts.price else None
        return self._tally.dearest if self._tally.priced else self.estimate(request)

    async def _tries(self, request: GenerateRequest) -> Reply:
        attempt, refused, passed = 1, 0, 0
        answered = self._tally.calls
        lost: LostUsage | None = None
        emptied = False
        while True:
            try:
                reply = await self._try(request)
            except ModelError as error:
                lost = error.lost = _sum(lost, error.lost)
                wait: float | None = 0.0
                if passed < _PASSED_OVER and self._limiter_waits(error):
                    refused += 1
                    passed += self._tally.calls > answered
                    answered = self._tally.calls
                else:
                    wait = self._wait(attempt - refused, error)
                if wait is None:
                    raise
                self._warn_of_silence(error, wait)
                await self._check_budget(request, error)
            else:
                if emptied or not (self.traits.remote and _is_empty(reply)) or _may_be_empty(request):
                    return replace(reply, attempts=attempt, lost=lost) if attempt > 1 else reply
                emptied = True
                empty = RetryableModelError("the model sent an empty answer", where=self.spec, retry_after=0.0)
                wait = self._parts.retries.wait(attempt - refused, empty)
                if wait is None:
                    return replace(reply, attempts=attempt, lost=lost)
                lost = _sum(lost, LostUsage(1, reply.usage, reply.cost))
                await self._check_budget(request, empty)
            if wait > 0:
                await self._parts.clock.sleep(wait)
            attempt += 1
            self._tally.retries += 1

    def _warn_of_silence(self, error: ModelError, wait: float) -> None:
        """Say once why nothing happens: no call has had any answer yet, and the next try comes after a wait."""
        if self._warned or not wait or error.http_status is not None or self._tally.calls:
            return
        self._warned = True
        tries = f"It is tried again up to {counted(self._parts.retries.max_retries, 'times')}."
        _LOG.warning(" ".join(filter(None, [f"{error.where}: {error.what}.", tries, error.fix])))

    def _limiter_waits(self, error: ModelError) -> bool:
        """Whether the limiter holds calls back until the provider accepts some again, so that this one costs no try."""
        limited = isinstance(error, RetryableModelError) and error.http_status == 429
        return limited and self._parts.batches is None and self._parts.limiter.patience > 0

    def _wait(self, attempt: int, error: ModelError) -> float | None:
        """Return the seconds until the next try, or None if there is none."""
        if not isinstance(error, RetryableModelError):
            return None
        wait = self._parts.retries.wait(attempt, error)
        if wait is None:
            error.what = f"{error.what} (given up after {attempt} {'try' if attempt == 1 else 'tries'})"
        return wait

    async def _check_budget(self, request: GenerateRequest, why: ModelError) -> None:
        """Raise BudgetError if the cost of the tries so far leaves nothing for another one."""
        if self._parts.budget.max_cost is not None and not self.traits.free:
            await self._parts.budget.check_next_try(self._expected(request) or 0.0, why.what)

    async def _try(self, request: GenerateRequest) -> Reply:
        if not self.traits.remote or self._parts.batches is not None:
            return await self._send(request)
        if self._first_calls.accepts(request.settings):
            return await self._send(request)
        async with self._first_calls.turn(request.settings):
            return await self._send(request)

    async def _send(self, request: GenerateRequest) -> Reply:
        limiter = self._parts.limiter
        slot = await limiter.acquire()
        answered = limited = False
        pause = 0.0
        try:
            if self._closed is not None:
                raise _closed_error(self._closed)
            self._tally.tries += 1
            reply = self._priced(await self._provided(request))
            answered = True
        except ModelError as error:
            if isinstance(error, RetryableModelError) and error.http_status == 429:
                limited, pause = True, self._parts.retries.requested_pause(error)
                self._tally.rate_limited += 1
            if isinstance(error, FatalModelError) and error.closed and self._closed is None:
                self._closed = error
            if error.lost is not None:
                self._pay(spent := self._priced(Reply((), error.lost.usage, error.lost.cost)))
                error.lost = LostUsage(1, spent.usage, spent.cost)
            raise
        finally:
            limiter.release(slot, answered=answered, limited=limited, pause=pause)
        self._pay(reply)
        if self.traits.verbatim:
            return reply
        reply = with_known_finish_reasons(reply)
        fault = broken_off(reply, self.spec, self.traits.remote)
        if fault is not None:
            raise fault
        return masked_reply(reply, self._mask) if self._mask else reply

    async def _provided(self, request: GenerateRequest) -> Reply:
        provider = self._parts.provider
        if not isinstance(request, LoglikelihoodCall):
            return await provider.generate(request)
        reply = await cast(LoglikelihoodProvider, provider).loglikelihood(request)
        if len(reply.completions) != len(request.requests) or any(c.logprobs is None for c in reply.completions):
            what = f"the provider returned {len(reply.completions)} likelihoods for {len(request.requests)} texts"
            raise FatalModelError(what, where=self.spec, fix="Report this to the plugin that adds the provider.")
        return reply

    def _pay(self, reply: Reply) -> None:
        if reply.bought:  # paid by an earlier attempt of the run, which recorded the cost
            return
        self._tally.paid(reply)
        if reply.cost:
            self._parts.budget.spend(reply.cost)

    def _priced(self, reply: Reply) -> Reply:
        if reply.cost is not None:
            return reply
        if self.traits.free:
            return replace(reply, cost=0.0)
        price = self._parts.price
        if price is None or not reply.usage.input_tokens:
            return reply
        return replace(reply, cost=price.cost(reply.usage))


def price_of(request: GenerateRequest, price: Price) -> float:
    """Return about the most that a request costs in US dollars; the default answer is as long as the question."""
    question_tokens = sum(len(message.text) for message in request.messages) // _CHARACTERS_A_TOKEN + 1
    if isinstance(request, LoglikelihoodCall):
        characters = sum(len(item.context) + len(item.continuation) for item in request.requests)
        return price.cost(Usage(question_tokens + characters // _CHARACTERS_A_TOKEN + 1, len(request.requests) + 1))
    limit = request.settings.get("max_completion_tokens") or request.settings.get("max_tokens")
    answer = int(limit) if isinstance(limit, int | float) else question_tokens
    images = sum(not m.plain and sum(part.kind == "image" for part in m.media) for m in request.messages)
    return price.cost(Usage(question_tokens, answer * request.n)) + images * (price.image or 0.0)


def _is_empty(reply: Reply) -> bool:
    """Whether the completions have no text, no reasoning and no reason for being empty."""
    return all(
        not c.text.strip()
        and not c.refusal
        and not c.reasoning
        and not c.tool_calls
        and c.finish_reason not in ("length", "content_filter", "tool_calls")
        for c in reply.completions
    )


def _may_be_empty(request: GenerateRequest) -> bool:
    """Whether an empty answer is valid: it continues a text that may be complete, or the request has the texts."""
    if isinstance(request, LoglikelihoodCall):
        return True
    return bool(request.messages) and request.messages[-1].role == "assistant"


def _closed_error(error: FatalModelError) -> FatalModelError:
    """Return the error that closed the model, for a further call."""
    return FatalModelError(error.what, where=error.where, fix=error.fix, http_status=error.http_status, closed=True)


def _sum(first: LostUsage | None, second: LostUsage | None) -> LostUsage | None:
    return first + second if first is not None and second is not None else first or second


def _without_defaults(request: GenerateRequest, exclusive: Sequence[str]) -> tuple[GenerateRequest, bool]:
    """Return a request with at most one of the exclusive settings, if the others have their default (1)."""
    present = [name for name in exclusive if request.settings.get(name) is not None]
    remaining = list(present)
    for name in reversed(present):
        if len(remaining) > 1 and request.settings[name] == 1:
            remaining.remove(name)
    if remaining == present:
        return request, False
    settings = {name: value for name, value in request.settings.items() if name not in present or name in remaining}
    return replace(request, settings=settings), True


def _nth(request: GenerateRequest, index: int) -> GenerateRequest:
    """Return the request for one more completion, with another seed if any: the same would repeat the answer."""
    seed = request.settings.get("seed")
    settings = {**request.settings, "seed": seed + index} if isinstance(seed, int) else request.settings
    return replace(request, settings=settings, n=1)


def _joined(replies: Sequence[Reply]) -> Reply:
    first = replies[0]
    known = [reply.cost for reply in replies if reply.cost is not None]
    return replace(
        first,
        completions=tuple(c for reply in replies for c in reply.completions),
        usage=sum((reply.usage for reply in replies), Usage()),
        cost=sum(known) if len(known) == len(replies) else None,
        latency=max(reply.latency for reply in replies),
        attempts=sum(reply.attempts for reply in replies),
        flags=tuple(dict.fromkeys(flag for reply in replies for flag in reply.flags)),
        lost=functools.reduce(_sum, (reply.lost for reply in replies)),
    )

"""The facade: cache, budget, limiter and retries around a provider."""

from __future__ import annotations

import asyncio
import dataclasses
import random
from typing import Any

import pytest
from support.chat_server import Answer, ChatServer, HttpError, Reset, word_answer
from support.virtual_time import LoopClock, run_virtual

from creval.errors import BudgetError, FatalModelError, RetryableModelError, UsageError
from creval.models.budget import Budget
from creval.models.limiter import AdaptiveLimiter
from creval.models.model import Model, ModelParts
from creval.models.model_options import ModelSpec
from creval.models.open_model import open_model
from creval.models.prices import Price
from creval.models.provider_traits import ProviderTraits
from creval.models.retries import RetryPolicy
from creval.types.messages import Completion, GenerateRequest, LostUsage, Message, Reply, Usage


class Scripted:
    """A provider that does what its script says, in virtual time; then it answers."""

    def __init__(self, *script: Any, seconds: float = 1.0) -> None:
        self.script = list(script)
        self.seconds = seconds
        self.requests: list[GenerateRequest] = []
        self.starts: list[float] = []
        self.closed = False

    async def generate(self, request: GenerateRequest) -> Reply:
        self.requests.append(request)
        self.starts.append(asyncio.get_running_loop().time())
        await asyncio.sleep(self.seconds)
        step = self.script.pop(0) if self.script else "fine"
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, Reply) else Reply((Completion(step),), Usage(10, 5))

    async def close(self) -> None:
        self.closed = True


def model_of(provider: Any, **parts: Any) -> Model:
    """A model in virtual time around a provider."""
    made = {
        "traits": ProviderTraits(),
        "limiter": AdaptiveLimiter(8, LoopClock()),
        "budget": Budget(),
        "retries": RetryPolicy(max_retries=4, random=random.Random(0)),
        "clock": LoopClock(),
        **parts,
    }
    return Model(ModelSpec.parse("p/m"), ModelParts(provider=provider, **made))


def test_a_fault_that_passes_costs_tries_not_answers(ask) -> None:
    provider = Scripted(RetryableModelError("x"), RetryableModelError("y", http_status=500))
    model = model_of(provider)
    reply = run_virtual(model.generate(ask()))
    assert (reply.text, reply.attempts) == ("fine", 3)
    stats = model.stats()
    assert (stats.calls, stats.tries, stats.retries, stats.errors, stats.in_flight) == (1, 3, 2, 0, 0)
    assert stats.usage == Usage(10, 5)


def test_waits_grow_and_retry_after_is_kept(ask) -> None:
    provider = Scripted(RetryableModelError("x", http_status=429, retry_after=50.0), RetryableModelError("y"))
    run_virtual(model_of(provider).generate(ask()))
    first, second = provider.starts[1] - provider.starts[0], provider.starts[2] - provider.starts[1]
    assert 51.0 <= first <= 52.0
    assert 1.0 <= second <= 3.0


def test_a_429_halves_the_limit_and_counts(ask) -> None:
    model = model_of(Scripted(RetryableModelError("x", http_status=429)))
    run_virtual(model.generate(ask()))
    assert model.stats().rate_limited == 1
    assert 4.0 <= model.stats().limit < 5.0


def test_gives_up_with_the_number_of_tries(ask) -> None:
    provider = Scripted(*[RetryableModelError("down") for _ in range(9)])
    model = model_of(provider)
    with pytest.raises(RetryableModelError, match=r"down \(given up after 5 tries\)"):
        run_virtual(model.generate(ask()))
    assert (len(provider.requests), model.stats().errors, model.stats().calls) == (5, 1, 0)


def test_a_fatal_error_is_not_tried_again(ask) -> None:
    provider = Scripted(FatalModelError("no such model"))
    with pytest.raises(FatalModelError):
        run_virtual(model_of(provider).generate(ask()))
    assert len(provider.requests) == 1


def test_an_empty_answer_is_asked_for_once_more_and_paid_for(ask) -> None:
    empty = Reply((Completion("  "),), Usage(10, 5), cost=0.5)
    model = model_of(Scripted(empty), budget=(budget := Budget()))
    reply = run_virtual(model.generate(ask()))
    assert (reply.text, reply.attempts, reply.lost) == ("fine", 2, LostUsage(1, Usage(10, 5), 0.5))
    assert budget.cost == 0.5
    assert model.stats().usage == Usage(20, 10)


def test_an_answer_that_stays_empty_is_the_models_own(ask) -> None:
    provider = Scripted(*[Reply((Completion(""),), Usage(10, 0)) for _ in range(9)])
    reply = run_virtual(model_of(provider).generate(ask()))
    assert (reply.text, len(provider.requests), reply.lost) == ("", 2, LostUsage(1, Usage(10, 0)))


def test_a_text_that_is_continued_may_be_at_its_end(ask) -> None:
    provider = Scripted(Reply((Completion(""),), Usage(10, 0)))
    request = dataclasses.replace(ask(), messages=(*ask().messages, Message("assistant", "All is said.")))
    assert run_virtual(model_of(provider).generate(request)).text == ""
    assert len(provider.requests) == 1


@pytest.mark.parametrize("completion", [Completion("", reasoning="hm"), Completion("", finish_reason="tool_calls")])
def test_no_content_next_to_reasoning_or_a_tool_call_is_one_try(ask, completion: Completion) -> None:
    provider = Scripted(Reply((completion,), Usage(10, 5), cost=0.5))
    model = model_of(provider)
    assert run_virtual(model.generate(ask())).completions == (completion,)
    assert (len(provider.requests), model.stats().calls, model.stats().cost) == (1, 1, 0.5)


@pytest.mark.parametrize("finish", ["error", "unknown"])
def test_an_answer_that_broke_off_is_asked_again_and_paid_for(ask, finish: str) -> None:
    model = model_of(Scripted(Reply((Completion("half", finish),), Usage(10, 5), cost=0.25)))
    reply = run_virtual(model.generate(ask()))
    assert (reply.text, reply.lost) == ("fine", LostUsage(1, Usage(10, 5), 0.25))
    assert model.stats().cost == 0.25


def test_a_call_that_fails_for_good_reports_what_its_tries_took(ask) -> None:
    provider = Scripted(*[Reply((Completion("half", "error"),), Usage(10, 5), cost=0.25) for _ in range(9)])
    with pytest.raises(RetryableModelError, match=r"broke off .*given up after 5 tries") as failed:
        run_virtual(model_of(provider).generate(ask()))
    assert failed.value.lost == LostUsage(5, Usage(50, 25), 1.25)


def test_max_cost_is_looked_at_between_the_tries_of_one_call(ask) -> None:
    provider = Scripted(*[Reply((Completion("half", "error"),), Usage(10, 5), cost=0.5) for _ in range(9)])
    model = model_of(provider, budget=Budget(max_cost=1.2), traits=ProviderTraits(reports_cost=True))
    with pytest.raises(BudgetError, match="tried again"):
        run_virtual(model.generate(ask()))
    assert (len(provider.requests), model.stats().cost) == (2, 1.0)


def test_after_an_error_of_the_account_nothing_more_is_sent(ask) -> None:
    provider = Scripted("fine", FatalModelError("no credit", http_status=402, closed=True))
    model = model_of(provider)

    async def go() -> list[str]:
        said = []
        for _ in range(4):
            try:
                said.append((await model.generate(ask())).text)
            except FatalModelError as error:
                said.append(error.what)
        return said

    assert run_virtual(go()) == ["fine", "no credit", "no credit", "no credit"]
    assert len(provider.requests) == 2


@pytest.mark.parametrize(
    "completion",
    [
        Completion("", finish_reason="length"),
        Completion("", finish_reason="content_filter"),
        Completion("", refusal="I cannot."),
    ],
)
def test_truncated_and_refused_answers_may_be_empty(ask, completion: Completion) -> None:
    provider = Scripted(Reply((completion,)))
    assert run_virtual(model_of(provider).generate(ask())).completions == (completion,)


def test_a_model_in_this_process_may_answer_nothing(ask) -> None:
    model = model_of(Scripted(Reply((Completion(""),))), traits=ProviderTraits(remote=False))
    assert run_virtual(model.generate(ask())).text == ""


def test_completions_that_a_call_does_not_give_are_asked_for_singly(ask) -> None:
    provider = Scripted("a", "b", "c")
    model = model_of(provider, traits=ProviderTraits(honours_n=False))
    reply = run_virtual(model.generate(ask(n=3, seed=10, temperature=1.0)))
    assert sorted(c.text for c in reply.completions) == ["a", "b", "c"]
    assert [request.n for request in provider.requests] == [1, 1, 1]
    assert sorted(request.settings["seed"] for request in provider.requests) == [10, 11, 12]
    assert reply.usage == Usage(30, 15)
    assert (model.stats().calls, provider.starts) == (3, [0.0, 1.0, 1.0])


def test_a_server_that_ignores_n_is_noticed(ask) -> None:
    provider = Scripted("a", "b", "c")
    reply = run_virtual(model_of(provider).generate(ask(n=3)))
    assert [request.n for request in provider.requests] == [3, 1, 1]
    assert len(reply.completions) == 3


def test_more_completions_than_asked_are_cut(ask) -> None:
    provider = Scripted(Reply(tuple(Completion(str(i)) for i in range(5))))
    assert [c.text for c in run_virtual(model_of(provider).generate(ask(n=2))).completions] == ["0", "1"]


def test_a_refusal_is_not_asked_for_again_n_times(ask) -> None:
    provider = Scripted(Reply((Completion("", "content_filter", refusal="no"),)))
    run_virtual(model_of(provider).generate(ask(n=5)))
    assert len(provider.requests) == 1


def test_one_failing_completion_of_several_fails_the_call_with_a_plain_error(ask) -> None:
    provider = Scripted("a", FatalModelError("bad"), "c")
    model = model_of(provider, traits=ProviderTraits(honours_n=False))
    with pytest.raises(FatalModelError, match="bad"):
        run_virtual(model.generate(ask(n=3)))
    assert model.stats().in_flight == 0


def test_cost_by_the_price_table_where_the_server_reports_none(ask) -> None:
    price = Price("m", input=0.01, output=0.1)
    model = model_of(
        Scripted("a", Reply((Completion("b"),), Usage(10, 5), cost=7.0), Reply((Completion("c"),))), price=price
    )

    async def go() -> list[float | None]:
        return [(await model.generate(ask())).cost for _ in range(3)]

    assert run_virtual(go()) == [pytest.approx(0.6), 7.0, None]
    assert model.stats().cost == pytest.approx(7.6)
    assert model.stats().unpriced == 1


def test_max_cost_over_two_models_that_share_it(ask) -> None:
    budget = Budget(max_cost=2.0)
    price = Price("m", input=0.0, output=0.1)  # 0.5 a call
    models = [model_of(Scripted(), budget=budget, price=price) for _ in range(2)]

    async def go() -> list[Any]:
        calls = [models[i % 2].generate(ask(max_tokens=5)) for i in range(10)]
        return await asyncio.gather(*calls, return_exceptions=True)

    results = run_virtual(go())
    assert sum(isinstance(result, Reply) for result in results) == 4
    assert sum(isinstance(result, BudgetError) for result in results) == 6
    assert budget.cost == pytest.approx(2.0)


def test_a_first_call_of_unknown_price_goes_alone(ask) -> None:
    """A router that reports its price only afterwards: one call, then as many as fit."""
    replies = [Reply((Completion("x"),), Usage(1, 1), cost=0.25) for _ in range(10)]
    provider = Scripted(*replies)
    model = model_of(provider, budget=Budget(max_cost=1.0), traits=ProviderTraits(reports_cost=True))

    async def go() -> list[Any]:
        return await asyncio.gather(*(model.generate(ask()) for _ in range(6)), return_exceptions=True)

    results = run_virtual(go())
    assert sum(isinstance(result, Reply) for result in results) == 4
    assert provider.starts == [0.0, 1.0, 1.0, 1.0]


def test_calls_that_turn_out_free_do_not_go_alone_for_ever(ask) -> None:
    provider = Scripted(*[Reply((Completion("x"),), Usage(1, 1), cost=0.0) for _ in range(5)])
    model = model_of(provider, budget=Budget(max_cost=1.0), traits=ProviderTraits(reports_cost=True))

    async def go() -> None:
        await asyncio.gather(*(model.generate(ask()) for _ in range(5)))

    run_virtual(go())
    assert provider.starts == [0.0, 1.0, 1.0, 1.0, 1.0]


def test_max_cost_holds_though_the_server_reports_no_usage(ask) -> None:
    price = Price("m", input=0.0, output=0.1)
    provider = Scripted(*[Reply((Completion("x"),)) for _ in range(10)])
    model = model_of(provider, budget=Budget(max_cost=2.0), price=price)

    async def go() -> list[Any]:
        calls = (model.generate(ask(max_tokens=5)) for _ in range(10))
        return await asyncio.gather(*calls, return_exceptions=True)

    assert sum(isinstance(result, Reply) for result in run_virtual(go())) == 4
    assert model.stats().unpriced == 4


def test_max_calls_counts_calls_not_tries(ask) -> None:
    budget = Budget(max_calls=2)
    provider = Scripted(RetryableModelError("x"), RetryableModelError("x"))
    model = model_of(provider, budget=budget)

    async def go() -> list[Any]:
        return await asyncio.gather(*(model.generate(ask()) for _ in range(3)), return_exceptions=True)

    results = run_virtual(go())
    assert [type(result).__name__ for result in results] == ["Reply", "Reply", "BudgetError"]
    assert len(provider.requests) == 4


def test_estimate_by_price_and_limit(ask) -> None:
    model = model_of(Scripted(), price=Price("m", input=1.0, output=10.0))
    assert model.estimate(ask("x" * 30, max_tokens=4)) == 11 * 1.0 + 4 * 10.0
    assert model.estimate(ask("x" * 30, n=2, max_tokens=4)) == 11 * 1.0 + 8 * 10.0
    assert model_of(Scripted()).estimate(ask()) is None
    assert model_of(Scripted(), traits=ProviderTraits(free=True)).estimate(ask()) == 0.0


def test_cancelling_at_any_moment_gives_everything_back(ask) -> None:
    async def go(seed: int) -> tuple[int, int, bool]:
        rng = random.Random(seed)
        provider = Scripted(*[RetryableModelError("x", http_status=rng.choice([429, 500])) for _ in range(20)])
        budget = Budget(max_cost=50.0)
        model = model_of(provider, budget=budget, price=Price("m", 0.1, 0.1))
        tasks = [asyncio.ensure_future(model.generate(ask(n=rng.choice([1, 3])))) for _ in range(20)]
        await asyncio.sleep(rng.uniform(0.0, 8.0))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        provider.script.clear()
        fresh = await model.generate(ask())
        return model.stats().in_flight, budget._in_flight, fresh.text == "fine"

    for seed in range(40):
        assert run_virtual(go(seed)) == (0, 0, True)


def test_close_closes_the_provider() -> None:
    provider = Scripted()
    asyncio.run(model_of(provider).close())
    assert provider.closed


def test_description_is_plain_and_without_secrets(registry, fast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-live-1234567890abcdef")
    model = open_model("openai/gpt-5-mini", registry, fast)
    described = model.describe()
    asyncio.run(model.close())
    assert described["base_url"] == "https://api.openai.com/v1"
    assert described["price"]["name"] == "gpt-5-mini"
    assert "1234567890" not in repr(described) + repr(model) + repr(model.traits)


def test_through_a_real_server_with_every_fault_once(registry, ask, fast) -> None:
    script = [HttpError(429, retry_after=0.01), HttpError(500), Reset(), Answer("")]

    async def go(url: str) -> tuple[Reply, Any]:
        options = dataclasses.replace(fast, base_url=url)
        model = open_model("openai/m", registry, options)
        reply = await model.generate(ask())
        await model.close()
        return reply, model.stats()

    with ChatServer(script) as server:
        reply, stats = asyncio.run(go(server.url))
        assert reply.text == word_answer(server.requests[0])
    assert (reply.attempts, stats.tries, stats.retries, stats.rate_limited) == (5, 5, 4, 1)


def test_a_server_that_is_off_is_reported_once_while_it_is_tried_again(
    registry, ask, fast, caplog: pytest.LogCaptureFixture
) -> None:
    """The tries may take a minute, in which nothing else is seen."""

    async def go(url: str) -> None:
        options = dataclasses.replace(fast, base_url=url, backoff_base=0.01, backoff_cap=0.01, max_retries=3)
        model = open_model("openai/m", registry, options)
        for _ in range(2):
            with pytest.raises(RetryableModelError, match="given up after 4 tries"):
                await model.generate(ask())
        await model.close()

    with ChatServer() as server:
        url = server.url
    asyncio.run(go(url))
    (warning,) = [record.getMessage() for record in caplog.records if record.name == "creval"]
    assert warning == (
        f"openai/m at {url}/chat/completions: the connection failed: Connection refused. "
        "It is tried again up to 3 times. Check that the server runs and that the base URL is right."
    )


def test_a_failure_after_an_answer_is_only_counted(registry, ask, fast, caplog: pytest.LogCaptureFixture) -> None:
    async def go(url: str) -> int:
        options = dataclasses.replace(fast, base_url=url, backoff_base=0.01, backoff_cap=0.01)
        model = open_model("openai/m", registry, options)
        for text in ("first", "second"):
            await model.generate(ask(text))
        await model.close()
        return model.stats().retries

    with ChatServer([Answer("a"), Reset()]) as server:
        assert asyncio.run(go(server.url)) == 1
    assert not [record for record in caplog.records if record.name == "creval"]


def test_a_usage_error_is_no_failed_call(ask, registry, fast) -> None:
    async def go(url: str) -> None:
        model = open_model("openai/m", registry, dataclasses.replace(fast, base_url=url))
        try:
            await model.generate(ask(temperature=float("inf")))
        finally:
            await model.close()
            assert model.stats().errors == 0

    with ChatServer() as server, pytest.raises(UsageError):
        asyncio.run(go(server.url))

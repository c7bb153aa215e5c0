"""What a call in a batch costs: by the table, by the provider's word, in the budget and in the journal."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from batched import FAST, answers, opened, request, said
from support.batch_server import BatchServer, Plan
from support.chat_server import Answer, HttpError
from support.parrot import parrot

from creval.engine.run_options import RunOptions
from creval.errors import BudgetError
from creval.models.budget import Budget
from creval.models.prices import Price
from creval.models.provider_traits import ProviderTraits
from creval.types.messages import Usage
from creval_litellm.price_table import PriceTable
from creval_sweeps.estimate import estimate_run

TABLE = {
    "listed": {
        "litellm_provider": "openai",
        "input_cost_per_token": 10e-6,
        "output_cost_per_token": 20e-6,
        "input_cost_per_token_batches": 6e-6,
        "output_cost_per_token_batches": 8e-6,
        "cache_read_input_token_cost": 2e-6,
        "input_cost_per_token_above_200k_tokens": 30e-6,
        "input_cost_per_token_above_200k_tokens_batches": 12e-6,
        "output_cost_per_token_above_200k_tokens": 40e-6,
    },
    "unlisted": {"litellm_provider": "openai", "input_cost_per_token": 10e-6, "output_cost_per_token": 20e-6},
    "elsewhere": {"litellm_provider": "acme", "input_cost_per_token": 10e-6, "output_cost_per_token": 20e-6},
}


@pytest.fixture
def table(tmp_path: Path) -> PriceTable:
    (tmp_path / "model_prices_and_context_window_backup.json").write_text(json.dumps(TABLE, indent=4))
    return PriceTable(tmp_path)


def test_the_table_has_the_first_word_then_the_provider(table: PriceTable) -> None:
    listed = table.find("openai", "listed", batch=True)
    assert listed is not None
    assert (listed.input, listed.output, listed.cached_input) == pytest.approx((6e-6, 8e-6, 1e-6))
    assert listed.tiers == ((200_000, pytest.approx(12e-6), pytest.approx(20e-6)),)
    assert listed.cost(Usage(100, 10)) == pytest.approx(680e-6)
    half = table.find("openai", "unlisted", batch=True)
    assert half is not None
    assert (half.input, half.output) == pytest.approx((5e-6, 10e-6))
    whole = table.find("acme", "elsewhere", batch=True)
    assert whole == table.find("acme", "elsewhere")


def test_single_calls_keep_their_price(table: PriceTable) -> None:
    single = table.find("openai", "listed")
    assert single is not None
    assert (single.input, single.output) == (10e-6, 20e-6)


@pytest.mark.parametrize("key", [True, False])
def test_the_dry_run_halves_the_price(
    key: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if key:
        monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    (tmp_path / "words.jsonl").write_text(
        "".join(f'{{"id": "{i}", "word": "w{i}", "target": "w"}}\n' for i in range(9))
    )
    (tmp_path / "words.yaml").write_text(
        "schema: 1\ntask: words\nversion: 1.0.0\ntitle: Words\ndataset: {source: file, file: words.jsonl, id: id}\n"
        'prompt: [{role: user, content: "Say {{ word }}"}]\ngeneration: {max_tokens: 100}\nscore: exact_match\n'
        "metrics: [{name: right, from: exact_match, aggregate: mean, failed: zero}]\n"
    )
    task = str(tmp_path / "words.yaml")
    single = estimate_run([task], "openai/gpt-4o-mini", RunOptions())
    batch = estimate_run([task], "openai/gpt-4o-mini", RunOptions(batch=True))
    assert batch.tasks[0].price.high == pytest.approx(single.tasks[0].price.high / 2)
    assert batch.tasks[0].calls == single.tasks[0].calls
    assert any("Prices are those of batches" in note for note in batch.notes)
    assert not any("batches" in note for note in single.notes)


def priced(server: BatchServer, notes: Path, budget: Budget, price: Price) -> object:
    """A model with a price, as if it were not on this machine."""
    model = opened(server, notes, budget=budget)
    provider = model._parts.provider
    provider.traits = ProviderTraits(prices=True, base_url=provider.traits.base_url)  # type: ignore[attr-defined]
    provider._pending._price = price  # type: ignore[attr-defined]
    model._parts = model._parts._replace(traits=provider.traits, price=price)  # type: ignore[attr-defined]
    provider._api._provider.traits = provider.traits  # type: ignore[attr-defined]
    return model


def test_the_worst_case_is_set_aside_before_anything_goes_out(notes: Path) -> None:
    """An answer of at most 10 tokens costs 10 cents; the limit is 55 cents, so five go out; they cost 1 cent each."""
    price = Price("p", 0.0, 0.01)
    requests = [request(number, max_tokens=10) for number in range(20)]
    with BatchServer(answer=parrot) as server:
        budget = Budget(max_cost=0.55)
        replies = answers(priced(server, notes, budget, price), requests)  # type: ignore[arg-type]
    texts = [reply.text for reply in replies if not isinstance(reply, BudgetError)]
    assert server.sizes[0] == 5
    assert budget.cost <= 0.55
    assert budget.cost == pytest.approx(0.01 * len(texts))
    assert all(reply.cost == 0.01 for reply in replies if not isinstance(reply, BudgetError))
    assert len(texts) == len(server.billed) == 20  # each batch turned out cheap, and made room for the next


def test_the_journal_knows_what_was_paid_also_for_nothing(notes: Path) -> None:
    odd = {0: Answer("half", finish_reason="error", cost=0.25), 1: HttpError(500)}
    with BatchServer([Plan(lines=lambda number, asked: odd.get(number))], answer=parrot) as server:
        said(answers(opened(server, notes), [request(number) for number in range(3)]))
        model = opened(server, notes)
        journal = model.batching.journal  # type: ignore[attr-defined]
        assert (journal.cost, journal.calls) == (0.25, 3)
        before = sum(server.billed.values())
        replies = answers(model, [request(number) for number in range(3)])
    assert said(replies) == ["word0", "word1", "word2"]
    assert all(reply.bought for reply in replies)
    assert sum(server.billed.values()) == before
    stats = model.stats()
    assert (stats.calls, stats.cached, stats.cost) == (0, 3, 0.0)


@pytest.mark.parametrize(("vendor", "path"), [("openai", "/v1"), ("azure", "")])
def test_litellm_sends_batches_too(vendor: str, path: str, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of its providers, at one server: a batch that expires, with a line that fails; one that nobody hears of."""
    from creval.models.model_options import ModelOptions
    from creval.models.open_model import open_model
    from creval.plugins import builtin as builtin_models
    from creval.plugins.registry import Registry
    from creval_batches.scheduler import BatchScheduler
    from creval_litellm.plugin import creval_components as litellm_components

    monkeypatch.setenv(f"{vendor.upper()}_API_KEY", "made-up-key-of-no-use")
    monkeypatch.setenv("AZURE_API_VERSION", "2025-04-01-preview")
    registry = Registry()
    builtin_models.register_providers(registry.scoped("core"))
    litellm_components(registry.scoped("litellm"))
    faults = {1: HttpError(500, {"message": "the server had an error"})}
    plans = [Plan(end="expired", share=4, lines=lambda number, asked: faults.get(number)), Plan(made_unheard=True)]
    steps: list[str] = []
    with BatchServer(plans, answer=parrot) as server:
        server.seen = steps.append

        async def work() -> list[object]:
            batching = BatchScheduler(polling=replace(FAST, quiet=0.2))  # litellm is loaded in a thread, call by call
            batching.open_journal(notes)
            options = ModelOptions(base_url=server.url.removesuffix("/v1") + path)
            model = open_model(f"litellm/{vendor}/gpt-4o-mini", registry, options, batching)
            assert model.price is not None
            single = PriceTable().find(vendor, "gpt-4o-mini")
            assert single is not None
            assert model.price.input == pytest.approx(single.input / 2)
            try:
                return await asyncio.gather(*(model.generate(request(number)) for number in range(6)))
            finally:
                await model.close()
                await batching.close()

        replies = asyncio.run(work())
    assert said(replies) == [f"word{number}" for number in range(6)]
    assert server.sizes == [6, 3]
    assert server.paid_twice == []
    assert all(reply.cost > 0 and "batch" in reply.flags for reply in replies)  # type: ignore[attr-defined]
    assert steps.count("content") == 3  # each file of answers or failures is fetched once
    assert "made-up-key" not in notes.read_text()

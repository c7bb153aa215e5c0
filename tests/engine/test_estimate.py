"""The dry run: calls, tokens and price to expect, without a call."""

from __future__ import annotations

import pytest

from creval.engine.estimate import estimate_run
from creval.errors import UsageError
from creval.models.prices import PriceTable


def test_calls_tokens_and_price(make_task, options, monkeypatch):
    """80 samples of 9 to 10 characters and at most 16 tokens; the price is the table's."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-0123456789")
    task = make_task(docs=40, repeats=2)
    (found,) = estimate_run([task], "openai/gpt-4o-mini", options())
    assert (found.task, found.samples, found.calls) == ("parrot", 80, 80)
    assert found.output_tokens == 80 * 16
    assert 80 * 9 / 4 <= found.input_tokens <= 80 * 10 / 4 + 1
    price = PriceTable().find("openai", "gpt-4o-mini")
    assert price is not None
    assert found.price == pytest.approx(80 * (4 * price.input + 16 * price.output), rel=0.15)
    (short,) = estimate_run([task], "openai/gpt-4o-mini", options(generation={"max_tokens": 4}, limit=10))
    assert (short.samples, short.output_tokens) == (20, 80)
    assert short.price < found.price / 4


def test_on_this_machine_it_is_free_and_elsewhere_a_price_may_be_unknown(make_task, server, options, monkeypatch):
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", "none-0123456789")
    (here,) = estimate_run([make_task()], "hosted_vllm/parrot", options(base_url=server.url))
    assert (here.calls, here.price) == (8, 0.0)
    (there,) = estimate_run([make_task()], "hosted_vllm/parrot", options(base_url="https://models.invalid/v1"))
    assert (there.calls, there.price) == (8, None)
    assert server.requests == []
    assert not options().output.exists()


def test_no_key_is_needed(make_task, options, monkeypatch):
    without = estimate_run([make_task()], "openai/gpt-4o-mini", options())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-0123456789")
    assert without == estimate_run([make_task()], "openai/gpt-4o-mini", options())
    assert without[0].price > 0
    monkeypatch.delenv("OPENAI_API_KEY")
    own = options(base_url="https://models.invalid/v1")
    assert estimate_run([make_task()], "openai/gpt-4o-mini", own)[0].price is None


def test_tasks_and_model_are_needed(options):
    with pytest.raises(UsageError):
        estimate_run([], "openai/x", options())

"""Prices out of litellm's table, without importing litellm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from creval.models.prices import Price
from creval.types.messages import Usage
from creval_litellm.price_table import PriceTable

TABLE = {
    "sample_spec": {"input_cost_per_token": 0.0, "litellm_provider": "one of the providers"},
    "gpt-x": {
        "litellm_provider": "openai",
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 4e-6,
        "cache_read_input_token_cost": 1e-7,
        "output_cost_per_reasoning_token": 5e-6,
        "input_cost_per_token_above_200k_tokens": 2e-6,
        "output_cost_per_token_above_200k_tokens": 8e-6,
    },
    "maker/model:v1": {"litellm_provider": "maker", "input_cost_per_token": 3e-6, "output_cost_per_token": 3e-6},
    "openrouter/maker/listed": {
        "litellm_provider": "openrouter",
        "input_cost_per_token": 7e-6,
        "output_cost_per_token": 7e-6,
    },
    "claude-y": {"litellm_provider": "anthropic", "input_cost_per_token": 9e-6, "output_cost_per_token": 9e-6},
    "by-the-hour": {"litellm_provider": "openai", "input_cost_per_second": 1.0},
    "names": {"litellm_provider": "other", "successor_model": "gpt-x", "text": '"gpt-z": {'},
}


@pytest.fixture
def table(tmp_path: Path) -> PriceTable:
    (tmp_path / "model_prices_and_context_window_backup.json").write_text(json.dumps(TABLE, indent=4))
    support = {"providers": {"acme_ai": {}, "ollama": {}}}
    (tmp_path / "provider_endpoints_support_backup.json").write_text(json.dumps(support))
    return PriceTable(tmp_path)


@pytest.mark.parametrize(
    ("provider", "model", "entry"),
    [
        ("openai", "gpt-x", "gpt-x"),
        ("openrouter", "openai/gpt-x", "gpt-x"),
        ("openrouter", "openai/gpt-x:nitro", "gpt-x"),
        ("openrouter", "maker/listed", "openrouter/maker/listed"),
        ("anthropic", "claude-y", "claude-y"),
        ("maker", "model:v1", "maker/model:v1"),
        ("groq", "gpt-x", None),
        ("openai", "claude-y", None),
        ("openai", "by-the-hour", None),
        ("openai", "gpt-z", None),
        ("openai", "gpt", None),
        ("openai", "GPT.x", None),
        ("openai", "", None),
    ],
)
def test_finds_the_right_entry_or_none(table: PriceTable, provider: str, model: str, entry: str | None) -> None:
    price = table.find(provider, model)
    assert (price.name if price else None) == entry


def test_free_variants_cost_nothing(table: PriceTable) -> None:
    price = table.find("openrouter", "openai/gpt-x:free")
    assert price is not None
    assert price.cost(Usage(1000, 1000)) == 0.0


def test_cached_and_reasoning_tokens_and_tiers(table: PriceTable) -> None:
    price = table.find("openai", "gpt-x")
    assert price is not None
    assert price.cost(Usage(1000, 100)) == pytest.approx(1000e-6 + 400e-6)
    assert price.cost(Usage(1000, 100, 60, 400)) == pytest.approx(600e-6 + 40e-6 + 160e-6 + 300e-6)
    assert price.cost(Usage(200_000, 0)) == pytest.approx(0.2)
    assert price.cost(Usage(200_001, 100)) == pytest.approx(200_001 * 2e-6 + 100 * 8e-6)


def test_a_part_is_never_more_than_the_whole() -> None:
    assert Price("m", 1.0, 1.0, cached_input=0.0, reasoning=0.0).cost(Usage(2, 3, 99, 99)) == 0.0


def test_providers_of_both_lists(table: PriceTable) -> None:
    assert {"openai", "anthropic", "maker", "acme_ai", "ollama"} <= table.providers()


def test_without_the_table_nothing_is_known(tmp_path: Path) -> None:
    table = PriceTable(tmp_path)
    assert table.find("openai", "gpt-x") is None
    assert table.providers() == frozenset()


def test_the_installed_table_is_read() -> None:
    table = PriceTable()
    price = table.find("openai", "gpt-4o-mini")
    assert price is not None
    assert 0 < price.input < price.output < 1e-3
    assert {"anthropic", "gemini", "bedrock", "openrouter", "ollama"} <= table.providers()


def test_single_entries_agree_with_the_table_parsed_whole() -> None:
    """Every chat model of the installed table, found through the text, has the price that the JSON has."""
    table = PriceTable()
    whole = json.loads(table._text)
    names = [n for n, e in whole.items() if e.get("litellm_provider") == "openai" and e.get("output_cost_per_token")]
    assert len(names) > 50
    for name in names:
        price = table.find("openai", name)
        assert price is not None, name
        assert (price.input, price.output) == (
            whole[name].get("input_cost_per_token"),
            whole[name]["output_cost_per_token"],
        )

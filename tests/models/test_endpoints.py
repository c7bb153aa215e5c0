"""Addresses and keys: the variables of litellm, and clear words where one is missing."""

from __future__ import annotations

import pytest

from creval.errors import MissingPartError, UsageError
from creval.models.model_options import ProviderOptions
from creval.models.providers.endpoints import ENDPOINTS, is_loopback, locate, proxy_for


def found(name: str, **options: object) -> str:
    return locate(ENDPOINTS[name], "m", ProviderOptions(**options)).base_url  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openrouter", "OPENROUTER_API_BASE"),
        ("openai", "OPENAI_BASE_URL"),
        ("openai", "OPENAI_API_BASE"),
        ("hosted_vllm", "HOSTED_VLLM_API_BASE"),
        ("ollama_chat", "OLLAMA_API_BASE"),
    ],
)
def test_addresses_come_from_the_same_variables_as_in_litellm(
    name: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:9/v1/")
    assert found(name) == "http://127.0.0.1:9/v1"
    assert found(name, base_url="http://127.0.0.1:8/v1") == "http://127.0.0.1:8/v1"


@pytest.mark.parametrize(
    ("name", "variable", "url"),
    [
        ("openrouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"),
        ("openrouter", "OR_API_KEY", "https://openrouter.ai/api/v1"),
        ("openai", "OPENAI_API_KEY", "https://api.openai.com/v1"),
    ],
)
def test_default_addresses_and_keys(name: str, variable: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingPartError, match=r"export [A-Z_]+_KEY="):
        found(name)
    monkeypatch.setenv(variable, "sk-1234567890")
    at = locate(ENDPOINTS[name], "m", ProviderOptions())
    assert (at.base_url, at.key, at.loopback) == (url, "sk-1234567890", False)
    assert "sk-1234567890" not in repr(at)


def test_ollama_needs_nothing_and_gets_its_suffix() -> None:
    assert found("ollama_chat") == "http://localhost:11434/v1"
    assert found("ollama_chat", base_url="http://127.0.0.1:5/v1") == "http://127.0.0.1:5/v1"


def test_vllm_needs_an_address_but_no_key() -> None:
    with pytest.raises(MissingPartError, match="export HOSTED_VLLM_API_BASE="):
        found("hosted_vllm")
    assert found("hosted_vllm", base_url="http://node7:8000/v1") == "http://node7:8000/v1"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "x.localhost", "0.0.0.0", "[::]"])
def test_this_machine_needs_no_key(host: str) -> None:
    assert found("openai", base_url=f"http://{host}:8000/v1")
    assert is_loopback(f"http://{host}:8000/v1")


@pytest.mark.parametrize("host", ["example.com", "10.0.0.1", "localhost.example.com", "128.0.0.1"])
def test_ones_own_server_elsewhere_needs_none_either(host: str) -> None:
    assert not is_loopback(f"http://{host}/v1")
    for provider in ("openai", "chat"):
        assert found(provider, base_url=f"http://{host}/v1")


@pytest.mark.parametrize("address", ["https://api.openai.com/v1", "https://openrouter.ai/api/v1"])
def test_the_address_of_a_hosted_provider_does(address: str) -> None:
    with pytest.raises(MissingPartError, match="export OPENAI_API_KEY="):
        found("chat", base_url=address)


def test_a_named_variable_must_be_set_even_here(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingPartError, match="export MY_OWN_KEY="):
        found("openai", base_url="http://127.0.0.1/v1", api_key_env="MY_OWN_KEY")
    monkeypatch.setenv("MY_OWN_KEY", "abc-123")
    at = locate(ENDPOINTS["openai"], "m", ProviderOptions(base_url="http://127.0.0.1/v1", api_key_env="MY_OWN_KEY"))
    assert at.key == "abc-123"


@pytest.mark.parametrize(
    "bad", ["ftp://x/v1", "localhost:8000", "http://", "http://h:99999/v1", "http://[x/v1", "file:///x"]
)
def test_what_is_no_address_is_refused(bad: str) -> None:
    with pytest.raises(UsageError, match="is not an address"):
        found("openai", base_url=bad)


@pytest.mark.parametrize("bad", ["http://me:hunter22@h/v1", "http://h/v1?key=hunter22#x", "http://h/v1#hunter22"])
def test_an_address_with_a_secret_is_refused_without_showing_it(bad: str) -> None:
    with pytest.raises(UsageError) as caught:
        found("openai", base_url=bad)
    assert "hunter22" not in str(caught.value)
    assert "environment" in str(caught.value)


def test_a_pasted_full_address_is_understood() -> None:
    assert found("openai", base_url="http://127.0.0.1:1/v1/chat/completions/") == "http://127.0.0.1:1/v1"


def test_a_query_goes_behind_the_path_and_into_no_repr() -> None:
    options = ProviderOptions(base_url="http://127.0.0.1:1/v1/chat/completions?api-version=1&sig=hunter22")
    at = locate(ENDPOINTS["ollama_chat"], "m", options)
    assert at.base_url == "http://127.0.0.1:1/v1"
    assert at.address("/chat/completions") == "http://127.0.0.1:1/v1/chat/completions?api-version=1&sig=hunter22"
    assert "hunter22" in at.secrets
    assert "hunter22" not in repr(at)


def test_offline_allows_this_machine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234567890")
    assert found("openai", base_url="http://127.0.0.1:1/v1", offline=True)
    with pytest.raises(UsageError, match="--offline"):
        found("openai", offline=True)


def test_a_key_that_breaks_headers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-12345\n678\r\nX-Evil: 1")
    with pytest.raises(UsageError) as caught:
        found("openai")
    assert "sk-12345" not in str(caught.value)


def test_proxies_of_the_environment_hold_for_other_machines_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    assert proxy_for("https://api.openai.com/v1") == "http://proxy:3128"
    assert proxy_for("https://inside.example/v1") is None
    assert proxy_for("https://localhost/v1") is None
    assert proxy_for("http://api.example/v1") is None
    monkeypatch.setenv("all_proxy", "socks5://proxy:1080")
    assert proxy_for("http://api.example/v1") == "socks5://proxy:1080"

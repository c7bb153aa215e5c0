"""The address of each provider of the chat-completions client, and the variables for its key and address.

The variable names are those of litellm, so that one setup serves both.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from creval.errors import MissingPartError, UsageError
from creval.models.model_options import ProviderOptions
from creval.models.providers.addresses import address_secrets, shown_address
from creval.models.secrets import find_key, missing_key

__all__ = ["ENDPOINTS", "Address", "Endpoint", "is_hosted", "is_loopback", "locate", "proxy_for"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A provider: its default address (None: the user must say), variables, and habits.

    `continues`: members of a request that make the answer continue a final assistant message; None: it cannot.
    `suffix` is added to an address that lacks it (Ollama's own address has no /v1). `key_required`: without a key
    no call is made to the provider's own address. `honours_n`, `prices`, `reports_cost`: see ProviderTraits.
    `likelihoods`: members of a request for log-likelihoods, next to those of the completions protocol.
    `batches`: the server may support OpenAI's batch protocol (only a call shows whether it does).
    """

    name: str
    url: str | None
    url_vars: tuple[str, ...]
    key_vars: tuple[str, ...]
    suffix: str = ""
    key_required: bool = True
    honours_n: bool = True
    prices: bool = False
    reports_cost: bool = False
    continues: Mapping[str, Any] | None = None
    batches: bool = False
    likelihoods: Mapping[str, Any] = field(default_factory=dict)


ENDPOINTS = {
    endpoint.name: endpoint
    for endpoint in (
        Endpoint(
            "openrouter",
            "https://openrouter.ai/api/v1",
            ("OPENROUTER_API_BASE",),
            ("OPENROUTER_API_KEY", "OR_API_KEY"),
            honours_n=False,
            prices=True,
            reports_cost=True,
        ),
        Endpoint(
            "openai",
            "https://api.openai.com/v1",
            ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
            ("OPENAI_API_KEY",),
            prices=True,
            batches=True,
        ),
        Endpoint(
            "hosted_vllm",
            None,
            ("HOSTED_VLLM_API_BASE",),
            ("HOSTED_VLLM_API_KEY",),
            key_required=False,
            continues={"continue_final_message": True, "add_generation_prompt": False},
            batches=True,
            likelihoods={"prompt_logprobs": 1, "add_special_tokens": False},
        ),
        Endpoint(
            "ollama_chat",
            "http://localhost:11434",
            ("OLLAMA_API_BASE",),
            ("OLLAMA_API_KEY",),
            suffix="/v1",
            key_required=False,
            honours_n=False,
        ),
        Endpoint("chat", None, (), ("OPENAI_API_KEY",), batches=True),
    )
}


@dataclass(frozen=True, slots=True)
class Address:
    """An address with its key. `base_url` is without `query`. No repr shows key or query."""

    endpoint: Endpoint
    base_url: str
    key_name: str
    loopback: bool
    key: str | None = field(default=None, repr=False)
    query: str = field(default="", repr=False)

    def address(self, path: str) -> str:
        """Return the address of a path below the base, with the query."""
        return f"{self.base_url}{path}{'?' if self.query else ''}{self.query}"

    @property
    def secrets(self) -> tuple[str | None, ...]:
        """Return the texts that no message may contain: the key, and the query except harmless parameters."""
        return (self.key, *address_secrets(self.address("")))


def locate(endpoint: Endpoint, model: str, options: ProviderOptions) -> Address:
    """Find the address and key of a model.

    Raises MissingPartError if an address or key is missing, UsageError if the address is invalid, contains a
    password, or is on the network though `--offline` was given.
    """
    spec = f"{endpoint.name}/{model}"
    address = options.base_url or find_key(endpoint.url_vars) or endpoint.url
    if address is None:
        name = endpoint.url_vars[0] if endpoint.url_vars else None
        fix = f", or:  export {name}=http://localhost:8000/v1" if name else ""
        raise MissingPartError(
            f"the model {spec!r} needs the address of its server",
            fix=f"Give --base-url http://localhost:8000/v1{fix}",
        )
    base_url, query = _clean(address, endpoint)
    loopback = is_loopback(base_url)
    if options.offline and not loopback:
        raise UsageError(
            f"the model {spec!r} is at {base_url}, and --offline forbids the network",
            fix="Leave out --offline, or use a model on this machine.",
        )
    names = (options.api_key_env,) if options.api_key_env else endpoint.key_vars
    key = find_key(names)
    if key is None and (options.api_key_env or (endpoint.key_required and is_hosted(base_url))):
        raise missing_key(spec, names[0])
    if key is not None and not (key.isascii() and key.isprintable()):
        raise UsageError(f"the key in {names[0]} contains characters that no key has", fix=f"Set {names[0]} again.")
    return Address(endpoint, base_url, names[0], loopback, key, query)


def is_loopback(url: str) -> bool:
    """Return whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified  # 0.0.0.0 reaches this machine too


def is_hosted(url: str) -> bool:
    """Return whether an address is a hosted provider's own, which requires a key."""
    known = {urlsplit(endpoint.url).hostname for endpoint in ENDPOINTS.values() if endpoint.url}
    return urlsplit(url).hostname in known and not is_loopback(url)


def _clean(address: str, endpoint: Endpoint) -> tuple[str, str]:
    """Return the base of an address, with the endpoint's suffix, and its query."""
    try:
        parts = urlsplit(address.strip())
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        displayed = shown_address(address)
        raise UsageError(f"{displayed!r} is not an address", where="--base-url", fix="Write http(s)://host:port/v1.")
    if parts.username or parts.password or parts.fragment:
        raise UsageError(
            f"the address of {parts.hostname!r} contains a user name, password or fragment",
            where="--base-url",
            fix="Write it without them; keys are read only from the environment.",
        )
    path = parts.path.rstrip("/").removesuffix("/completions").removesuffix("/chat").rstrip("/")
    if not path.endswith(endpoint.suffix):
        path += endpoint.suffix
    return urlunsplit((parts.scheme, parts.netloc, path, "", "")), parts.query


def proxy_for(url: str) -> str | None:
    """Return the environment's proxy for calls to this address, None if it is called directly."""
    if is_loopback(url):
        return None
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")

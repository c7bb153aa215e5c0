"""Opens a model by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.errors import MissingPartError, UnknownNameError, UsageError
from creval.models.batching import Batching
from creval.models.limiter import AdaptiveLimiter
from creval.models.model import Model, ModelParts
from creval.models.model_options import ModelOptions, ModelSpec
from creval.models.prices import Price, price_table
from creval.models.provider_traits import ProviderTraits
from creval.models.providers.endpoints import ENDPOINTS
from creval.models.secrets import find_key
from creval.plugins.distributions import absent_distribution
from creval.plugins.registry import Component, Registry
from creval.types.components import Provider

if TYPE_CHECKING:
    from pathlib import Path

    from creval.models.response_cache import ResponseCache

__all__ = ["listed_price", "open_model", "provider_names"]

_GENERIC = "chat"
_FALLBACK = "litellm"
_UNLIMITED = 10**9  # calls that wait for a batch are not in flight


def open_model(
    spec: str, registry: Registry, options: ModelOptions | None = None, batching: Batching | None = None
) -> Model:
    """Open the model that `spec` names. With `batching`, calls over a network are sent in its batches.

    The first part names a component of kind `provider`; if there is none, the name goes to litellm, or with
    `--base-url` as a whole to the chat-completions provider. Sends nothing yet.

    Raises UnknownNameError for an unknown provider, MissingPartError for a missing key, package or
    address, UsageError if the options do not fit, or the provider has no batches.
    """
    options = options or ModelOptions()
    name, component = _resolve(ModelSpec.parse(spec), registry, options)
    provider: Provider = component.load()(model=name.model, options=options.for_provider())
    traits: ProviderTraits = getattr(provider, "traits", None) or ProviderTraits()
    vendor, vendor_model = _vendor(name)
    batched = batching is not None and traits.remote
    table = price_table() if traits.prices else None
    price = table.find(vendor, vendor_model, batch=batched) if table else None
    if options.budget.max_cost is not None and not (price or traits.reports_cost or traits.free):
        raise UsageError(
            f"no price is known for {spec!r}, so --max-cost cannot be kept",
            fix="Use --max-calls.",
        )
    ceiling = min(options.concurrency, traits.concurrency or options.concurrency)
    policy = options.retry_policy()
    address = f"{traits.base_url} {options.own_limit}" if options.own_limit else traits.base_url
    limiter = options.limiters.get(vendor, address, ceiling, policy, traits.remote)
    batches = None
    if batching is not None and batched:
        provider = batches = batching.wrap(provider, name, price)
        limiter = AdaptiveLimiter(_UNLIMITED)
    parts = ModelParts(
        provider=provider,
        traits=traits,
        limiter=limiter,
        budget=options.budget,
        retries=policy,
        clock=options.clock,
        price=price,
        cache=_response_cache(options.cache) if options.cache and traits.cacheable else None,
        batches=batches,
    )
    return Model(name, parts)


def listed_price(spec: str, registry: Registry, options: ModelOptions, batch: bool = False) -> Price | None:
    """Return the price table's price of a model (`batch`: of calls in batches) without opening it, so without a key.

    None if the table has none, or if the user set the model's address. Raises UnknownNameError, UsageError.
    """
    name, _ = _resolve(ModelSpec.parse(spec), registry, options)
    endpoint = ENDPOINTS.get(name.provider)
    unlisted = options.base_url or (endpoint is not None and (not endpoint.prices or find_key(endpoint.url_vars)))
    table = None if unlisted else price_table()
    return table.find(*_vendor(name), batch=batch) if table else None


def provider_names(registry: Registry) -> list[str]:
    """Return the possible first parts of models' names, sorted: components and, with creval-litellm, its providers."""
    installed = registry.names("provider")
    return sorted({*installed, *(_priced_providers() if _FALLBACK in installed else ())})


def _priced_providers() -> frozenset[str]:
    table = price_table()
    return frozenset() if table is None else table.providers()


def _resolve(name: ModelSpec, registry: Registry, options: ModelOptions) -> tuple[ModelSpec, Component]:
    if name.provider in registry.names("provider"):
        return name, _provider(name.provider, registry)
    distribution = absent_distribution("provider", name.provider)
    if distribution is not None:
        what = f"{name.text} needs {distribution}, which is not installed: pip install {distribution}"
        raise MissingPartError(what, where="--model")
    if options.base_url:
        return ModelSpec(name.text, _GENERIC, name.text), _provider(_GENERIC, registry)
    if not name.provider:
        raise UsageError(
            f"{name.text!r} names no provider",
            where="--model",
            fix=f"Write provider/model, for example openai/{name.text} or ollama_chat/{name.text}.",
        )
    fallback = registry.find("provider", _FALLBACK)
    if fallback is not None and name.provider in _priced_providers():
        return ModelSpec(name.text, _FALLBACK, name.text), fallback
    absent = absent_distribution("provider", _FALLBACK)
    raise UnknownNameError(
        "model provider",
        name.provider,
        provider_names(registry),
        where="--model",
        hint=f"Many more providers come with {absent}: pip install {absent}."
        if absent
        else "`creval plugins --components` lists the providers that are installed.",
    )


def _provider(name: str, registry: Registry) -> Component:
    """Return a provider; of several with one name, the one with log-likelihoods."""
    return registry.find("likelihoods", name) or registry.get("provider", name, where="--model")


def _vendor(name: ModelSpec) -> tuple[str, str]:
    """Return the provider that answers: behind litellm the one named in the model."""
    if name.provider != _FALLBACK:
        return name.provider, name.model
    vendor, slash, model = name.model.partition("/")
    return (vendor, model) if slash else (_FALLBACK, name.model)


def _response_cache(file: Path) -> ResponseCache:
    from creval.models.response_cache import ResponseCache  # imports sqlite

    return ResponseCache(file)

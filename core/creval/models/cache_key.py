"""The identity of a call: everything that must be equal for a cached answer to be reused."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from creval.errors import UsageError
from creval.models.model_options import ModelSpec
from creval.models.provider_traits import ProviderTraits
from creval.types.likelihoods import LoglikelihoodCall
from creval.types.messages import GenerateRequest

__all__ = ["cache_key", "canonical_json"]

_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
_VERSION = 1  # version of this key; raise it when the key's definition changes, so that old keys do not match


def cache_key(spec: ModelSpec, traits: ProviderTraits, request: GenerateRequest) -> str:
    """Return the sha256 (hex) over provider, model, address, identity, every setting, messages, n and the sample.

    The sample's task, doc, condition, repeat, role and call number are part of it: a second repeat is another call and
    never gets the answer of the first. `Origin.identity`, if a question has one, replaces them. Settings that are None
    are not sent and do not count.
    """
    origin = request.origin
    identity = {
        "version": _VERSION,
        "provider": spec.provider,
        "model": spec.model,
        "base_url": traits.base_url,
        "identity": dict(traits.identity),
        "settings": {name: value for name, value in request.settings.items() if value is not None},
        "n": request.n,
        "messages": [message.to_json() for message in request.messages],
        "sample": [*origin.key, origin.role, origin.call] if origin.identity is None else [*origin.identity],
    }
    if request.tools:
        identity["tools"] = [tool.to_json() for tool in request.tools]
    if isinstance(request, LoglikelihoodCall):
        identity |= {"output": request.output, "continuations": [item.continuation for item in request.requests]}
    return hashlib.sha256(canonical_json(identity).encode()).hexdigest()


def canonical_json(value: Any) -> str:
    """Return canonical JSON: keys sorted, no white space, ASCII, 1.0 written as 1.

    Raises UsageError if a value is not JSON (NaN, an object).
    """
    try:
        return _ENCODER.encode(_canonical(value))
    except (ValueError, TypeError) as error:
        raise UsageError(f"a setting cannot be written as JSON: {error}", fix="Use plain finite values.") from None


def _canonical(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {str(name): _canonical(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    return value

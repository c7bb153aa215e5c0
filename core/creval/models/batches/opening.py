"""Which providers take batches."""

from __future__ import annotations

from creval.errors import UsageError
from creval.models.batches.calls import BatchCalls
from creval.models.batches.lane_calls import CURE, ChatBatches
from creval.models.batches.litellm_calls import VENDORS, LitellmBatches
from creval.models.providers.chat_provider import ChatProvider
from creval.models.providers.endpoints import ENDPOINTS
from creval.models.providers.litellm_provider import LitellmProvider
from creval.types.components import Provider

__all__ = ["batch_calls"]


def batch_calls(provider: Provider, spec: str) -> BatchCalls:
    """Return the batch calls of an open provider. Raises UsageError where it has none."""
    if isinstance(provider, ChatProvider) and provider.endpoint.batches:
        return ChatBatches(provider)
    if isinstance(provider, LitellmProvider) and provider.vendor in VENDORS:
        return LitellmBatches(provider)
    known = [name for name, endpoint in ENDPOINTS.items() if endpoint.batches and name != "chat"]
    others = ", ".join([*known, *(name for name in VENDORS if name not in known)])
    raise UsageError(
        f"{spec!r} cannot be asked in batches", where="--batch", cure=f"{CURE} Batches are taken by {others}."
    )

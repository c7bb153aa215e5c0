"""Which providers have a batch endpoint."""

from __future__ import annotations

from creval.plugin import UsageError
from creval.plugin.batches import ENDPOINTS, ChatProvider
from creval.plugin.models import Provider
from creval_batches.batch_api import BatchApi
from creval_batches.chat_api import FIX, ChatBatchApi
from creval_batches.litellm_api import VENDORS, LitellmBatchApi
from creval_litellm.provider import LitellmProvider

__all__ = ["open_api"]


def open_api(provider: Provider, spec: str) -> BatchApi:
    """Return the batch endpoint of an open provider. Raises UsageError if it has none."""
    if isinstance(provider, ChatProvider) and provider.endpoint.batches:
        return ChatBatchApi(provider)
    if isinstance(provider, LitellmProvider) and provider.vendor in VENDORS:
        return LitellmBatchApi(provider)
    known = [name for name, endpoint in ENDPOINTS.items() if endpoint.batches and name != "chat"]
    others = ", ".join([*known, *(name for name in VENDORS if name not in known)])
    raise UsageError(f"{spec!r} cannot be called in batches", where="--batch", fix=f"{FIX} Batches work with {others}.")

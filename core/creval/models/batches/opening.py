"""Which providers take batches."""

from __future__ import annotations

from creval.errors import UsageError
from creval.models.batches.calls import BatchCalls
from creval.models.batches.lane_calls import CURE, ChatBatches
from creval.models.batches.litellm_calls import VENDORS, LitellmBatches
from creval.models.lanes.chat_lane import ChatLane
from creval.models.lanes.endpoints import ENDPOINTS
from creval.models.lanes.litellm_lane import LitellmLane
from creval.types.components import Provider

__all__ = ["batch_calls"]


def batch_calls(provider: Provider, spec: str) -> BatchCalls:
    """Return the batch calls of an open provider. Raises UsageError where it has none."""
    if isinstance(provider, ChatLane) and provider.endpoint.batches:
        return ChatBatches(provider)
    if isinstance(provider, LitellmLane) and provider.vendor in VENDORS:
        return LitellmBatches(provider)
    known = [name for name, endpoint in ENDPOINTS.items() if endpoint.batches and name != "chat"]
    others = ", ".join([*known, *(name for name in VENDORS if name not in known)])
    raise UsageError(
        f"{spec!r} cannot be asked in batches", where="--batch", cure=f"{CURE} Batches are taken by {others}."
    )

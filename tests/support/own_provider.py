"""A provider as a plugin would bring it."""

from __future__ import annotations

from typing import Any

from creval.models.provider_traits import ProviderTraits
from creval.types.messages import Completion, GenerateRequest, Reply

__all__ = ["make"]


class Own:
    """Answers with the model's name."""

    traits = ProviderTraits(remote=False, concurrency=1, free=True, identity={"sha256": "ab"})

    def __init__(self, model: str) -> None:
        self.model = model

    async def generate(self, request: GenerateRequest) -> Reply:
        return Reply((Completion(self.model),))

    async def close(self) -> None:
        """Nothing to close."""


def make(model: str, options: Any) -> Own:
    """The factory."""
    return Own(model)

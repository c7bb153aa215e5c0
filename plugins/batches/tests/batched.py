"""A model whose calls go out in batches, without waiting by the clock."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support.batch_server import BatchServer

from creval.models.model import Model
from creval.models.model_options import ModelOptions
from creval.models.open_model import open_model
from creval.plugins import builtin as builtin_models
from creval.plugins.registry import Registry
from creval.types.messages import GenerateRequest, Message, Origin, Reply
from creval.types.sample import SampleKey
from creval_batches.polling import Polling
from creval_batches.scheduler import BatchScheduler

__all__ = ["FAST", "answers", "opened", "request", "said"]

FAST = Polling(quiet=0.02, first=0.01, longest=0.03, doubt=0.05, tries=5)


def request(number: int, n: int = 1, **settings: Any) -> GenerateRequest:
    """The question of one sample."""
    origin = Origin(SampleKey("t", f"d{number}", "default", 0))
    return GenerateRequest((Message("user", f"Say word{number}"),), settings, origin, n)


def opened(server: BatchServer, notes: Path, polling: Polling = FAST, detach: bool = False, **options: Any) -> Model:
    """A model over the chat provider whose batches are recorded in a journal."""
    registry = Registry()
    builtin_models.register_providers(registry.scoped("core"))
    batching = BatchScheduler(detach, polling=polling)
    batching.open_journal(notes)
    given = ModelOptions(base_url=server.url, backoff_base=0.0, backoff_cap=0.0, max_retries=4)
    model = open_model("openai/gpt-test", registry, dataclasses.replace(given, **options), batching)
    model.batching = batching  # type: ignore[attr-defined]
    return model


def answers(model: Model, requests: Sequence[GenerateRequest]) -> list[Any]:
    """Ask all at once; an error takes the place of its reply."""

    async def work() -> list[Any]:
        try:
            return await asyncio.gather(*(model.generate(each) for each in requests), return_exceptions=True)
        finally:
            await model.close()
            await model.batching.close()  # type: ignore[attr-defined]

    return asyncio.run(work())


def said(replies: Sequence[Any]) -> list[str]:
    """The texts of replies; an error is raised."""
    for reply in replies:
        if not isinstance(reply, Reply):
            raise reply
    return [reply.text for reply in replies]

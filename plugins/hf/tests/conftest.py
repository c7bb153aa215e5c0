"""Tiny models that the tests make, and calls of their provider."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from creval.models.model_options import ProviderOptions
from creval.types.messages import GenerateRequest, Message, Origin
from creval.types.sample import SampleKey

sys.path.insert(0, str(Path(__file__).parent))

T = TypeVar("T")
Ask = Callable[..., GenerateRequest]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return the folder of a tiny model, made once for each kind and configuration."""
    from tiny_models import save_tiny

    made: dict[str, Path] = {}

    def find(kind: str = "llama", **config: Any) -> Path:
        key = f"{kind} {sorted(config.items())}"
        if key not in made:
            made[key] = save_tiny(tmp_path_factory.mktemp(kind) / kind, kind, **config)
        return made[key]

    return find


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture
def together(loop: asyncio.AbstractEventLoop) -> Callable[..., Any]:
    """Run coroutines at the same time, and return what each gives."""

    def run(*work: Coroutine[Any, Any, T]) -> Sequence[T]:
        async def gathered() -> Sequence[T]:
            return await asyncio.gather(*work)

        return loop.run_until_complete(gathered())

    return run


@pytest.fixture
def open_tiny(tiny: Callable[..., Path], loop: asyncio.AbstractEventLoop) -> Iterator[Callable[..., Any]]:
    """Open the provider of a tiny model; `query` is what follows its name."""
    from creval_hf.provider import HfProvider

    opened: list[HfProvider] = []

    def make(kind: str = "llama", query: str = "", **config: Any) -> HfProvider:
        provider = HfProvider(f"{tiny(kind, **config)}{query}", ProviderOptions(offline=True))
        opened.append(provider)
        return provider

    yield make
    for provider in opened:
        loop.run_until_complete(provider.close())


@pytest.fixture
def ask() -> Ask:
    def make(text: str, n: int = 1, **settings: Any) -> GenerateRequest:
        return GenerateRequest((Message("user", text),), settings, Origin(SampleKey("task", "doc", "default", 0)), n)

    return make

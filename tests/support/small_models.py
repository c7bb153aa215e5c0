"""The small language model in this process, loaded once for all tests of a worker."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

__all__ = ["share_loaded_models"]


@functools.cache
def _loaded() -> dict[Path, Any]:
    return {}


def share_loaded_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each model of creval-embedded that is opened use the weights that were loaded for the first one."""
    from creval_embedded.provider import EmbeddedProvider

    load: Callable[[EmbeddedProvider], Any] = EmbeddedProvider._open

    def shared(provider: EmbeddedProvider) -> Any:
        if provider._path not in _loaded():
            _loaded()[provider._path] = load(provider)
        provider._server = _loaded()[provider._path]
        return provider._server

    monkeypatch.setattr(EmbeddedProvider, "_open", shared)

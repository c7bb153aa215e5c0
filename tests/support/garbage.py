"""Keeps the collector of garbage out of what earlier tests left: in a long session each pass over it takes seconds."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

__all__ = ["FrozenHeap"]


class FrozenHeap:
    """After each file of tests, collects its garbage and sets what is left (modules, loaded models) aside for good."""

    def pytest_collection_finish(self) -> None:
        """Set aside what was imported and collected, and look for garbage less often: that took a twentieth of all."""
        gc.set_threshold(30_000, 20, 20)
        gc.collect()
        gc.freeze()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
        """Collect behind the last test of a file, when its fixtures are gone."""
        yield
        if nextitem is None or nextitem.path != item.path:
            gc.collect()
            gc.freeze()

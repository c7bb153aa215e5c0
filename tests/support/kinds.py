"""The marks of slow tests, which `make check` leaves out, by the fixtures that they use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

__all__ = ["BY_FIXTURE", "mark_kinds"]

BY_FIXTURE: Mapping[str, str] = {
    "minilm": "model",
    "embedded": "model",
    "mpnet_cache": "model",
    "small_model": "model",
    "browser": "browser",
    "chromium": "browser",
    "page_in_a_browser": "browser",
    "raylets": "ray",
    "wheels": "wheels",
    "unpacked": "wheels",
}
"""A fixture gives its mark to every test that uses it. What uses none is marked in its file."""


def mark_kinds(items: Iterable[pytest.Item]) -> None:
    """Give the tests that use such fixtures their marks."""
    for item in items:
        for kind in {BY_FIXTURE[name] for name in getattr(item, "fixturenames", ()) if name in BY_FIXTURE}:
            item.add_marker(kind)

"""Nothing of the user's own environment: no test depends on keys, addresses or proxies of whoever runs it."""

from __future__ import annotations

import os

import pytest

__all__ = ["hide_user"]


def hide_user(patch: pytest.MonkeyPatch) -> None:
    """Take keys, addresses and proxies out of the environment, until the patch is undone."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL")) or name.lower().endswith("_proxy"):
            patch.delenv(name)

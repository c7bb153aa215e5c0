"""Nothing of the user's own environment, and this plugin with those that its tasks use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Load this plugin and what its tasks name, with a cache of its own."""
    folder = tmp_path_factory.mktemp("wordgames")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL")) or name.lower().endswith("_proxy"):
                patch.delenv(name)
        patch.setenv("CREVAL_PLUGINS", "wordgames,association,datasets,embedded,encoders,judges")
        patch.setenv("CREVAL_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        yield folder

"""Where the large encoder is, for tests marked `fidelity`."""

from __future__ import annotations

from pathlib import Path

import pytest

from creval.user_folders import cache_folder

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def mpnet_cache() -> Path:
    """The cache folder that holds all-mpnet-base-v2; the test is skipped where none does."""
    for cache in (ROOT / ".cache", cache_folder()):
        if (cache / "models" / "all-mpnet-base-v2" / "model.safetensors").is_file():
            return cache
    pytest.skip("all-mpnet-base-v2 is not there: run `make fidelity`, which fetches it")

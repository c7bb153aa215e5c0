"""Embeddings of creval-embedded for the tests of this plugin."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from creval.errors import MissingPartError
from creval.resources.resource_options import ResourceOptions
from creval.user_folders import cache_folder

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def embedded() -> Callable[[str], Any]:
    """Open an embedding of creval-embedded; the test is skipped where it or its weights are absent."""
    pytest.importorskip("creval_embedded")
    from creval_embedded.embeddings import open_embedding

    opened: dict[str, Any] = {}

    def get(name: str) -> Any:
        if name not in opened:
            caches = [ROOT / ".cache", cache_folder()]
            here = [cache for cache in caches if name != "mpnet" or (cache / "models" / "all-mpnet-base-v2").is_dir()]
            if not here:
                pytest.skip("all-mpnet-base-v2 is not there: run `make fidelity`, which fetches it")
            try:
                opened[name] = open_embedding(name, ResourceOptions(cache=here[0]))
            except MissingPartError as error:
                pytest.skip(str(error))
        return opened[name]

    return get

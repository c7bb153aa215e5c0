"""A hub on the loopback, the library pointed at it, and runs to push."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.hub_runs import TOKEN, make_run
from support.hub_server import HubServer

import creval


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    """A hub where ada may write; HF_TOKEN is hers."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # read from the environment at the first import
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    with HubServer({TOKEN: "ada"}) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        yield server


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """A finished run of three docs."""
    return make_run(tmp_path / "made", {"a": "yes", "b": "no", "c": "perhaps"})


@pytest.fixture(scope="session")
def of_plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over a task of each plugin that has tasks."""
    folder = tmp_path_factory.mktemp("plugins") / "run"
    options = creval.RunOptions(
        output=folder,
        limit="first:1",
        repeats=1,
        resources={"entailment": "exact", "embedding": "embedded/minilm"},
        roles={"judge": "baseline/floor"},
        allowed_error_share=1.0,
    )
    return creval.run(["rat", "kumo_easy", "hypogen_own", "create"], "baseline/ceiling", options).folder

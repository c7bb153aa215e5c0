"""The published problems, and the sandbox."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from creval.plugin import ResourceOptions
from creval_neocoder.problem import Problem
from creval_neocoder.published.published_files import PublishedFiles
from creval_neocoder.published.published_problems import read_problems
from creval_sandbox.bubblewrap import BubblewrapSandbox, open_bubblewrap


@pytest.fixture(scope="session")
def files(reference_data: Path) -> PublishedFiles:
    """The authors' files."""
    return PublishedFiles(reference_data / "neocoder", offline=True)


@pytest.fixture(scope="session")
def problems(files: PublishedFiles) -> list[Problem]:
    """All 199 problems."""
    return read_problems(files)


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BubblewrapSandbox]:
    """The real sandbox."""
    if shutil.which("bwrap") is None:
        pytest.skip("no bubblewrap on this machine")
    box = open_bubblewrap("", ResourceOptions(cache=tmp_path_factory.mktemp("cache")))
    yield box
    box.close()

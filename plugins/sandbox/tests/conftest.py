"""The real sandbox in every manner that this machine allows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from creval_sandbox import bubblewrap as module
from creval_sandbox.bubblewrap import BubblewrapSandbox
from creval_sandbox.command import Identity
from creval_sandbox.mounts import Interpreter, compiler_mounts, mounts
from creval_sandbox.probe import find_manner
from creval_sandbox.worker import Manner

NOBODY = 65534
SYSTEM = Path("/usr/bin/python3")


def opened(name: str, folder: Path, patch: pytest.MonkeyPatch) -> BubblewrapSandbox:
    """Open the sandbox in a mode (`nested`, `plain`), as whoever runs the tests or as an unprivileged user."""
    if shutil.which("bwrap") is None:
        pytest.skip("no bubblewrap on this machine")
    mode, _, user = name.partition(" as ")
    manner = find_manner(mode)
    if user == "another user":
        if os.geteuid() != 0 or not SYSTEM.exists():
            pytest.skip("no bubblewrap as another user: only root can become one, with the system's Python")
        system = Interpreter.at(SYSTEM)
        patch.setattr(module, "mounts", lambda: mounts(system))
        patch.setattr(module, "compiler_mounts", lambda: compiler_mounts(system))
        manner = Manner(Identity(NOBODY), manner.nested)
    return BubblewrapSandbox(manner, folder, workers=1)


@pytest.fixture(scope="module", params=["nested", "plain", "nested as another user", "plain as another user"])
def sandbox(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BubblewrapSandbox]:
    """One sandbox in each manner."""
    with pytest.MonkeyPatch.context() as patch:
        box = opened(request.param, tmp_path_factory.mktemp("cache"), patch)
        yield box
        box.close()


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BubblewrapSandbox]:
    """The sandbox as this machine opens it."""
    with pytest.MonkeyPatch.context() as patch:
        made = opened("", tmp_path_factory.mktemp("cache"), patch)
        yield made
        made.close()

"""Runs to compare, and a command line in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.spellers import make_runs

from creval.cli.main import invoke

Said = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The folder of the runs, which is the current one while a module's tests run."""
    with pytest.MonkeyPatch.context() as patch:
        yield make_runs(tmp_path_factory.mktemp("runs"), patch)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs a command line in this process: its exit code, what it prints, and what it complains about."""

    def command(*words: str) -> tuple[int, str, str]:
        code = invoke(list(words))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command

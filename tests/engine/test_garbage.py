"""Garbage is not collected while a command starts, and is from when it works."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from support.imports import imported_by

from creval.cli.lazy_group import import_command
from creval.engine.event_loop import drive


@pytest.fixture
def off() -> Iterator[None]:
    gc.disable()
    yield
    gc.unfreeze()
    gc.enable()


async def collecting() -> bool:
    return gc.isenabled()


@pytest.mark.usefixtures("off")
def test_a_run_collects() -> None:
    assert drive(collecting())
    assert gc.get_freeze_count() > 0  # what was imported is not looked through again


@pytest.mark.usefixtures("off")
def test_a_command_collects() -> None:
    import_command("creval.cli.commands.resume:resume")
    assert gc.isenabled()


def test_the_entry_point_puts_collecting_and_spinning_threads_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    code = "import gc, os, sys; sys.argv = ['creval', '--version']\nfrom creval.__main__ import main\ntry: main()\n"
    code += "except SystemExit: assert not gc.isenabled() and os.environ['OPENBLAS_THREAD_TIMEOUT'] == '4'"
    loaded = imported_by(code)
    assert "numpy" not in loaded  # which reads the variable when it is imported
    assert "creval.cli.main" in loaded

"""The command ends its process at once, and loses nothing by that."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from creval.cli.process_end import ProcessEnd, is_program


def test_what_nobody_closed_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    monkeypatch.setattr(gc, "get_objects", lambda: opened)
    text, raw = (tmp_path / "text").open("w"), (tmp_path / "raw").open("wb")
    with (tmp_path / "text").open() as read:
        opened = [text, raw, read, "something else"]
        text.write("one")
        raw.write(b"two")
        ending = ProcessEnd()
        ending()
        assert codes == []  # there is no code: an error passes
        ending.code = 3
        ending()
    assert codes == [3]
    assert ((tmp_path / "text").read_text(), (tmp_path / "raw").read_bytes()) == ("one", b"two")
    text.close()
    raw.close()


def test_an_output_that_takes_nothing_is_left_to_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise BrokenPipeError

    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(flush=refuse))
    ending = ProcessEnd()
    ending.code = 0
    ending()
    assert codes == []


@pytest.mark.parametrize(("before", "expected"), [(0, 1), (1, 0)])
def test_it_is_the_last_thing_that_runs(before: int, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    registered: list[Callable[[], None]] = []
    monkeypatch.setattr(atexit, "_ncallbacks", lambda: before)
    monkeypatch.setattr(atexit, "register", registered.append)
    ProcessEnd().register()
    assert len(registered) == expected


@pytest.mark.parametrize(
    ("file", "expected"),
    [("/bin/creval", True), ("/lib/creval/__main__.py", True), ("/lib/pytest/__main__.py", False), (None, False)],
)
def test_other_programs_end_as_ever(file: str | None, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(__file__=file))
    assert is_program() is expected

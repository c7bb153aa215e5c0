"""`human/terminal`."""

from __future__ import annotations

import asyncio
import io
import os
import pty
import subprocess
import sys

import pytest

from creval.errors import FatalModelError, UnknownNameError, UsageError
from creval.models.human import HumanTerminal
from creval.models.opening import open_model


def test_lines_up_to_the_full_stop_are_the_answer(ask) -> None:
    sink = io.StringIO()
    person = HumanTerminal(io.StringIO("first line\n\n third.\r\n.\nsecond answer\n.\n"), sink)

    async def go() -> list[str]:
        return [(await person.generate(ask("What?", doc="d1"))).text for _ in range(2)]

    assert asyncio.run(go()) == ["first line\n\n third.", "second answer"]
    assert "doc d1" in sink.getvalue()
    assert "[user]\nWhat?" in sink.getvalue()


def test_the_end_of_input_is_no_answer(ask) -> None:
    with pytest.raises(FatalModelError, match="ended"):
        asyncio.run(HumanTerminal(io.StringIO("half"), io.StringIO()).generate(ask()))


def test_needs_a_terminal_and_the_right_name(registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    with pytest.raises(UsageError, match="keyboard"):
        open_model("human/terminal", registry)
    with pytest.raises(UnknownNameError, match="terminal"):
        open_model("human/terminl", registry)


CODE = """
import asyncio
from creval.models.opening import open_model
from creval.plugins.builtin import models
from creval.plugins.registry import Registry
from creval.types.messages import GenerateRequest, Message, Origin
from creval.types.sample import SampleKey
registry = Registry()
models.register(registry)
model = open_model("human/terminal", registry)
request = GenerateRequest((Message("user", "Who?"),), {}, Origin(SampleKey("t", "0", "default", 0)), 2)
print(repr([c.text for c in asyncio.run(model.generate(request)).completions]))
"""


def test_at_a_real_terminal() -> None:
    master, slave = pty.openpty()
    os.write(master, b"me\n.\nand you\n.\n")
    done = subprocess.run(
        [sys.executable, "-c", CODE], stdin=slave, capture_output=True, text=True, timeout=60, check=True
    )
    os.close(master)
    os.close(slave)
    assert done.stdout.strip() == "['me', 'and you']"
    assert done.stderr.count("Who?") == 2

"""Fixtures of tests that make runs: a task of any size, a plugin of a test's own, a server, options of a run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.chat_server import ChatServer
from support.parrot import parrot
from support.toy_plugins import write_distribution
from support.user_environment import hide_user

from creval.engine.run_options import RunOptions

__all__ = ["install", "make_task", "options", "own_environment", "server"]

MakeTask = Callable[..., str]

TASK = """\
schema: 1
task: {name}
version: 1.0.0
title: Say a word
dataset: {{source: file, file: {name}.jsonl, id: id}}
{conditions}
repeats: {repeats}
prompt:
  - {{role: user, content: "Say {{{{ word }}}}"}}
generation: {{max_tokens: 16}}
score: exact_match
metrics:
  - {{name: right, from: exact_match, aggregate: mean, primary: true, failed: {failed}}}
"""


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No keys or addresses of the user, only the core's own plugin, caches in the test's folder."""
    hide_user(monkeypatch)
    monkeypatch.setenv("CREVAL_PLUGINS", "")
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CREVAL_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def make_task(tmp_path: Path) -> MakeTask:
    """Write a task of `docs` docs whose right answer is the word of the prompt; returns its path as --tasks takes it.

    Every fourth target is another word, so that a perfect parrot scores 0.75 (exactly, where docs is a multiple of 4).
    """

    def make(
        name: str = "parrot",
        docs: int = 8,
        repeats: int = 1,
        conditions: str = "",
        failed: str = "zero",
        extra: str = "",
    ) -> str:
        with (tmp_path / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for index in range(docs):
                target = f"other{index}" if index % 4 == 3 else f"word{index}"
                file.write(json.dumps({"id": f"d{index}", "word": f"word{index}", "target": target}) + "\n")
        text = TASK.format(name=name, repeats=repeats, conditions=conditions, failed=failed) + extra
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
        return str(tmp_path / f"{name}.yaml")

    return make


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, str], None]:
    """Install a plugin: its name, the text of its hooks, and that of `creval_<name>_parts`, its components.

    Next to the core's it is the only one. The modules are read anew in each test.
    """

    def add(name: str, hooks: str, parts: str) -> None:
        modules = {f"creval_{name}_plugin.py": hooks, f"creval_{name}_parts.py": parts}
        write_distribution(tmp_path / "site", f"creval-{name}", modules, {name: f"creval_{name}_plugin"})
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        monkeypatch.setenv("CREVAL_PLUGINS", name)
        for module in (f"creval_{name}_plugin", f"creval_{name}_parts"):
            monkeypatch.delitem(sys.modules, module, raising=False)

    return add


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A server that repeats the last word."""
    with ChatServer(answer=parrot) as running:
        yield running


@pytest.fixture
def options(tmp_path: Path) -> Callable[..., RunOptions]:
    """Options for a run in `tmp_path/run`; keywords override."""

    def make(**changes: object) -> RunOptions:
        given: dict[str, object] = {"output": tmp_path / "run", "seed": 1, "concurrency": 16, **changes}
        return RunOptions(**given)  # type: ignore[arg-type]

    return make

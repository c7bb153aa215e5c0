"""Signals end a run in order, soon, with one message and the command that goes on."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer
from support.commands import creval, program, start, write_spelling

from creval.cli import signals

pytestmark = pytest.mark.kills

WORDS = {f"word{i}": "ok" for i in range(40)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_spelling(tmp_path, WORDS)
    return tmp_path


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(answer="ok", held_after=4) as running:
        yield running


def begun(process: Any, folder: Path) -> None:
    """Wait until the run has written a sample."""
    samples = folder / "stopped" / "samples" / "spelling.jsonl"
    while process.poll() is None and not (samples.exists() and samples.stat().st_size):
        time.sleep(0.05)
    assert process.poll() is None


def arguments(server: ChatServer) -> list[str]:
    command = ["--tasks", "spelling.yaml", "--model", "m/x", "--base-url", server.url, "--concurrency", "2"]
    return [*command, "--output", "stopped"]


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=["INT", "TERM", "HUP"]
)
def test_a_signal_ends_the_run_in_order(folder: Path, server: ChatServer, number: signal.Signals, code: int) -> None:
    process = start(folder, *arguments(server))
    begun(process, folder)
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == code
    assert said.count("creval resume") == said.count("interrupted") == 1
    assert "Traceback" not in said
    assert json.loads((folder / "stopped" / "run.json").read_text())["status"] == "interrupted"
    server.release()
    again = creval(folder, "resume", "stopped")
    assert again.returncode == 0, again.stderr
    lines = (folder / "stopped" / "samples" / "spelling.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["doc_id"] for line in lines) == sorted(f"w{i}" for i in range(40))


@pytest.mark.parametrize("times", [2, 5])
@pytest.mark.parametrize("pause", [0.0, 0.02])
def test_several_ctrl_c_in_a_row_end_it_with_one_message(
    folder: Path, server: ChatServer, times: int, pause: float
) -> None:
    process = start(folder, *arguments(server))
    begun(process, folder)
    for _ in range(times):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(pause)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert said.count("creval resume") == said.count("interrupted") == 1
    assert "Traceback" not in said


def test_a_component_that_holds_on_is_left_behind(folder: Path, server: ChatServer) -> None:
    """A thread that cannot be interrupted, as a library's may be: the second Ctrl-C does not wait for it."""
    hold = "import threading, time; threading.Thread(target=time.sleep, args=(3600,)).start()\n"
    (folder / "sitecustomize.py").write_text(hold)
    process = start(folder, *arguments(server), environment={"PYTHONPATH": str(folder)})
    begun(process, folder)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert said.count("creval resume") == 1


def test_a_hangup_that_is_ignored_stays_ignored(folder: Path, server: ChatServer) -> None:
    """As under nohup."""
    command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *program(*arguments(server))]
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    environment["CREVAL_CACHE"] = str(folder / "cache")
    process = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
    begun(process, folder)
    process.send_signal(signal.SIGHUP)
    server.release()
    said = process.communicate(timeout=120)[1]
    assert (process.returncode, "interrupted" in said) == (0, False)


@pytest.mark.parametrize("soon", [True, False])
def test_an_end_that_takes_a_while_is_announced_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], soon: bool
) -> None:
    ended = threading.Event()
    monkeypatch.setattr(signals, "_SILENCE", 0.5 if soon else 0.0)
    monkeypatch.setattr(signals, "_PATIENCE", 0.5 if soon else 0.06)
    monkeypatch.setattr(signals, "_end_now", lambda _: ended.set())
    monkeypatch.setattr(gc, "disable", lambda: None)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        with signals.listening():
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
            assert soon or ended.wait(10)
        assert ended.wait(10)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    line = "Stopping: waiting up to 0.06 s for work in flight. Press Ctrl-C again to stop within 1 s.\n"
    assert capsys.readouterr().err == ("" if soon else line)


_INTERRUPTED_IMPORT = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
"""


@pytest.mark.parametrize("module", ["creval.cli", "click", "creval.cli.root", "creval.errors", "creval.api"])
def test_ctrl_c_while_the_command_line_is_imported_ends_it_in_one_word(folder: Path, module: str) -> None:
    """The signal comes from within: at the import of a module, however fast the machine is."""
    (folder / "sitecustomize.py").write_text(_INTERRUPTED_IMPORT.format(module=module))
    arguments = ["--tasks", "spelling.yaml", "--model", "baseline/floor"]
    process = start(folder, *arguments, environment={"PYTHONPATH": str(folder)})
    out, said = process.communicate(timeout=60)
    assert (process.returncode, said.strip(), out) == (130, "interrupted", "")


def test_ctrl_c_that_is_ignored_stays_ignored_from_the_start(folder: Path) -> None:
    """As in a background job of a script."""
    (folder / "sitecustomize.py").write_text(_INTERRUPTED_IMPORT.format(module="click"))
    command = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *program("--version")]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")

"""`creval play` in a real pseudo-terminal and on its page, as processes of their own."""

from __future__ import annotations

import http.client
import json
import os
import pty
import re
import select
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.commands import creval, start, write_spelling

PATIENCE = 60.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_spelling(tmp_path, {f"word{i}": f"word{i}" for i in range(2)})
    return tmp_path


class Terminal:
    """A process in a pseudo-terminal of 100 by 40, read up to the words that are waited for."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.master, slave = pty.openpty()
        size = {"TERM": "xterm", "COLUMNS": "100", "LINES": "40", "NO_COLOR": "1"}
        streams = {"stdin": slave, "stdout": slave, "stderr": slave, "start_new_session": True}
        self.process = start(folder, *arguments, environment=size, **streams)
        os.close(slave)
        self.shown = ""

    def until(self, words: str) -> str:
        """Read until the words are shown; returns what was shown since the last time."""
        deadline = time.monotonic() + PATIENCE
        while words not in self.shown:
            ready, _, _ = select.select([self.master], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"{words!r} was not shown, but: {self.shown}"
            try:
                chunk = os.read(self.master, 65536)
            except OSError:
                chunk = b""
            assert chunk, f"ended without {words!r}: {self.shown}"
            self.shown += chunk.decode("utf-8", "replace")
        head, _, self.shown = self.shown.partition(words)
        return head + words

    def type(self, line: str) -> None:
        os.write(self.master, f"{line}\n".encode())

    def end(self) -> tuple[int, str]:
        """Read to the end; returns the exit code and what was shown."""
        while True:
            try:
                chunk = os.read(self.master, 65536)
            except OSError:
                break
            if not chunk:
                break
            self.shown += chunk.decode("utf-8", "replace")
        os.close(self.master)
        return self.process.wait(PATIENCE), self.shown


@pytest.fixture
def terminal(folder: Path) -> Iterator[Any]:
    opened: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        opened.append(Terminal(folder, *arguments))
        return opened[-1]

    yield start
    for each in opened:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


def samples(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in (run / "samples").glob("*.jsonl") for line in file.read_text().splitlines()]


PROMPT = "(? help, quit): "


def test_a_person_plays_stops_resumes_and_is_in_a_report_next_to_a_model(terminal: Any, folder: Path) -> None:
    run = folder / "runs" / "person"
    play = terminal("play", "kumo_easy", "--name", "ada", "--limit", "2", "--seed", "3", "-o", str(run))
    first = play.until(PROMPT)
    assert "1 of 2 · ada" in first
    assert "Guidebook" in first
    play.type("77")  # no such number: asked again, and no answer of the run
    assert "There is no number 77" in play.until(PROMPT)
    play.type("1")
    assert "taken so far: 1" in play.until(PROMPT)
    play.type("7")  # the first truth
    second = play.until(PROMPT)
    assert "Your answer is noted" in second
    assert "2 of 2 · ada" in second
    play.type("2")
    play.until("taken so far: 1")
    play.until(PROMPT)
    play.type("quit")
    code, shown = play.end()
    assert code == 130
    assert f"creval play --resume {run}" in shown
    assert "Traceback" not in shown

    assert [sample["outcome"]["end"] for sample in samples(run)] == ["predicted"]
    assert json.loads((run / "run.json").read_text())["status"] == "interrupted"

    again = terminal("resume", str(run))  # the same as: play --resume
    shown = again.until(PROMPT)
    assert "2 of 2 · ada" in shown
    assert "taken so far" not in shown  # the game that was stopped begins anew
    again.type("7")
    code, shown = again.end()
    assert code == 0
    assert "Earnings by the formula" in shown
    played = samples(run)
    assert len(played) == 2
    assert [len(sample["outcome"]["tests"]) for sample in played] == [1, 0]
    assert all(call["reply"]["model"] == "human/ada" for sample in played for call in sample["calls"])
    assert all(call["reply"]["latency"] > 0 for sample in played for call in sample["calls"])

    floor = folder / "runs" / "floor"
    arguments = ["--tasks", "kumo_easy", "--model", "baseline/floor", "--limit", "2", "--seed", "3", "--repeats", "1"]
    assert creval(folder, *arguments, "-o", str(floor)).returncode == 0
    report = creval(folder, "report", str(run), str(floor), "--json")
    rows = [row for row in json.loads(report.stdout) if row["metric"] == "success_rate"]
    assert {row["model"] for row in rows} == {"human/ada", "baseline/floor"}
    assert [row["n"] for row in rows] == [2, 2]


def test_ctrl_c_stops_at_once_and_the_run_can_be_resumed(terminal: Any, folder: Path) -> None:
    run = folder / "run"
    play = terminal("play", "kumo_easy", "--limit", "1", "-o", str(run))
    play.until(PROMPT)
    play.process.send_signal(signal.SIGINT)
    code, shown = play.end()
    assert code == 130
    assert f"creval play --resume {run}" in shown
    assert "Traceback" not in shown and "Fatal" not in shown
    again = terminal("play", "--resume", str(run))
    again.until(PROMPT)
    again.type("quit")
    assert again.end()[0] == 130


def test_a_task_without_a_screen_is_played_as_free_text(terminal: Any, folder: Path) -> None:
    play = terminal("--tasks", "./spelling.yaml", "--model", "human/player", "-o", "run")
    assert "Write the word word0." in play.until(PROMPT)
    play.type("word0")
    play.type(".")
    play.until(PROMPT)
    play.type("wrong")
    play.type(".")
    code, _ = play.end()
    assert code == 0
    results = json.loads((folder / "run" / "results.json").read_text())
    assert results["model"] == "human/player"
    assert results["tasks"][0]["metrics"][0]["value"] == 0.5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("play",), "name a task"),
        (("play", "kumo_easyy"), "kumo_easy"),
        (("play", "kumo_easy", "--name", "a/b"), "not a name for a person"),
        (("play", "--resume", "nowhere"), "there is no run"),
        (("play", "kumo_easy", "--resume", "nowhere"), "name no task"),
    ],
)
def test_wrong_use_is_one_clear_message(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    done = creval(folder, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_of_a_model_is_not_resumed_by_play(folder: Path) -> None:
    arguments = ["--tasks", "kumo_easy", "--model", "baseline/floor", "--limit", "1", "--repeats", "1", "-o", "r"]
    assert creval(folder, *arguments).returncode == 0
    done = creval(folder, "play", "--resume", "r")
    assert done.returncode == 2
    assert "creval resume r" in done.stderr


Place = tuple[int, str]


@contextmanager
def page(folder: Path, *arguments: str) -> Iterator[tuple[Any, Place]]:
    """A run of the task that is played on a page: its process and where the page is (port, path)."""
    process = start(folder, "play", "./spelling.yaml", "--web", "-o", "run", *arguments)
    try:
        line = process.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:(\d+)(/[\w.-]{16,})/ ", line)
        assert address, line
        yield process, (int(address[1]), address[2])
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def test_the_page_serves_the_same_run(folder: Path) -> None:
    """Played over HTTP; the plugin's tests drive the page in a browser."""
    with page(folder, "--name", "p01", "--show-results") as (process, place):
        answers = {"w0": "word0", "w1": "word1"}
        version = 0
        while True:
            state = _call(place, "GET", f"/state?after={version}")
            version = state["version"]
            if state["phase"] == "closing":
                _call(place, "POST", "/seen", {})
                break
            if state["phase"] == "ask":
                reported = {"view": state["view"], "value": answers[state["title"].rpartition(", ")[2]]}
                _call(place, "POST", "/answer", reported)
        (row,) = state["rows"]
        assert (row[:2], float(row[2])) == (["spelling", "accuracy"], 1.0)
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        assert "accuracy" in out
    assert json.loads((folder / "run" / "results.json").read_text())["model"] == "human/p01"


def test_an_error_of_the_run_is_reported_on_the_page(folder: Path) -> None:
    with page(folder, "--limit", "first:1") as (process, place):
        version = 0
        while (state := _call(place, "GET", f"/state?after={version}"))["phase"] != "closing":
            version = state["version"]
            if state["phase"] == "ask":
                shutil.rmtree(folder / "run")
                (folder / "run").write_text("no folder: the results cannot be written")
                _call(place, "POST", "/answer", {"view": state["view"], "value": "word0"})
        assert state["title"] == "Stopped by an error"
        assert any("run" in line for line in state["lines"])
        _call(place, "POST", "/seen", {})
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert "error:" in err


def _call(place: Place, method: str, path: str, reported: Any = None) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", place[0], timeout=PATIENCE)
    connection.request(
        method,
        place[1] + path,
        None if reported is None else json.dumps(reported),
        {"Content-Type": "application/json"},
    )
    found = json.loads(connection.getresponse().read())
    connection.close()
    return found

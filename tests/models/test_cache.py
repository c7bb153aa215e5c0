"""The answer cache: durable, safe between processes, honest about damage."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.chat_server import Answer, ChatServer, HttpError

from creval.errors import DataError, FatalModelError
from creval.models.open_model import open_model
from creval.models.response_cache import ResponseCache
from creval.types.messages import Completion, Reply, TokenLogprob, Usage
from creval.types.reply_json import reply_from_json, reply_to_json

FULL = Reply(
    (
        Completion(
            "text \U0001f600",
            "stop",
            "thought",
            (TokenLogprob("a", -0.5, (("a", -0.5), ("b", float("-inf")))), TokenLogprob("b", 0.0)),
            "no",
        ),
        Completion("", "length"),
    ),
    Usage(1, 2, 1, 1),
    cost=0.125,
    latency=0.5,
    model="m",
    served_by="Acme",
    attempts=3,
)


def test_a_reply_comes_back_as_it_was_put(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "deep" / "c.sqlite")
    cache.put("k", FULL)
    assert cache.get("k") == FULL
    assert cache.get("other") is None
    cache.close()
    again = ResponseCache(tmp_path / "deep" / "c.sqlite")
    assert again.get("k") == FULL
    assert len(again) == 1
    again.close()
    again.close()


def test_plain_data_round_trip_of_the_least_reply() -> None:
    least = Reply((Completion(""),))
    assert reply_from_json(reply_to_json(least)) == least


def test_the_first_answer_to_a_key_stays(tmp_path: Path) -> None:
    for text in ("first", "second"):
        cache = ResponseCache(tmp_path / "c.sqlite")
        cache.put("k", Reply((Completion(text),)))
        cache.close()
    cache = ResponseCache(tmp_path / "c.sqlite")
    kept = cache.get("k")
    cache.close()
    assert kept is not None
    assert kept.text == "first"


def test_everything_put_is_on_disk_when_close_returns(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "c.sqlite")
    for i in range(3000):
        cache.put(str(i), Reply((Completion(f"answer {i}"),)))
    cache.close()
    rows = sqlite3.connect(tmp_path / "c.sqlite").execute("SELECT count(*) FROM replies").fetchone()
    assert rows == (3000,)


WRITER = """
import sys
from pathlib import Path
from creval.models.response_cache import ResponseCache
from creval.types.messages import Completion, Reply
cache = ResponseCache(Path(sys.argv[1]))
for i in range(int(sys.argv[3])):
    cache.put(f"{sys.argv[2]}-{i}", Reply((Completion(f"{sys.argv[2]} {i}"),)))
    cache.put(f"shared-{i}", Reply((Completion("shared"),)))
print("put", flush=True)
if sys.argv[4] == "close":
    cache.close()
else:
    import time
    time.sleep(3600)
"""


def writer(path: Path, name: str, count: int, end: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), name, str(count), end]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ})


def test_processes_may_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    writers = [writer(path, name, 300, "close") for name in ("a", "b", "c")]
    assert [w.wait(120) for w in writers] == [0, 0, 0]
    cache = ResponseCache(path)
    assert len(cache) == 4 * 300
    assert all(cache.get(f"{name}-{i}") for name in ("a", "b", "c", "shared") for i in range(300))
    cache.close()


def test_a_file_that_another_process_is_creating_is_waited_for(tmp_path: Path) -> None:
    """sqlite itself gives up at once, as two processes that wait for each other would wait for ever."""
    path = tmp_path / "c.sqlite"
    creator = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    creator.execute("BEGIN IMMEDIATE")
    creator.execute("CREATE TABLE other (a)")
    timer = threading.Timer(0.3, creator.execute, ("ROLLBACK",))
    timer.start()
    cache = ResponseCache(path)
    assert len(cache) == 0
    cache.close()
    timer.join()
    creator.close()


@pytest.mark.kills
def test_a_killed_process_leaves_a_sound_file(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    victim = writer(path, "a", 2000, "hang")
    assert victim.stdout is not None
    victim.stdout.readline()
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    cache = ResponseCache(path)
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
    cache.put("new", FULL)
    cache.close()


@pytest.mark.parametrize("content", [b"this is no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_damaged_file_is_an_error_with_a_fix(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "c.sqlite"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"(?s)c\.sqlite.*damaged.*rm .*requested again"):
        ResponseCache(path)
    assert path.read_bytes() == content  # nothing of the user's is overwritten


def test_a_damaged_row_is_an_error_not_a_miss(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    ResponseCache(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO replies VALUES ('k', '{\"completions\": 7}')")
    cache = ResponseCache(path)
    with pytest.raises(DataError, match="damaged"):
        cache.get("k")
    cache.close()


def test_another_database_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "mine.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE precious (x)")
    with pytest.raises(DataError, match="not an answer cache"):
        ResponseCache(path)
    tables = sqlite3.connect(path).execute("SELECT name FROM sqlite_master").fetchall()
    assert tables == [("precious",)]


def test_a_cache_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    ResponseCache(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=99")
    with pytest.raises(DataError, match="version"):
        ResponseCache(path)


def test_a_failed_write_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    cache = ResponseCache(path)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE replies")
    cache.put("k", FULL)
    with pytest.raises(DataError, match="damaged"):
        cache.close()


def test_no_thread_is_left(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "c.sqlite")
    cache.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "creval-cache"]


def test_answers_are_kept_across_models_but_never_across_repeats(registry, ask, fast, tmp_path: Path) -> None:
    options = dataclasses.replace(fast, cache=tmp_path / "c.sqlite")

    async def go(url: str) -> list[tuple[str, bool]]:
        model = open_model("openai/m", registry, dataclasses.replace(options, base_url=url))
        try:
            replies = [await model.generate(ask(repeat=r)) for r in (0, 1, 0)]
            assert model.stats().cached + model.stats().calls == 3
            return [(reply.text, reply.cached) for reply in replies]
        finally:
            await model.close()

    with ChatServer([Answer("one"), Answer("two")], answer="other") as server:
        first = asyncio.run(go(server.url))
        second = asyncio.run(go(server.url))
    assert first == [("one", False), ("two", False), ("one", True)]
    assert second == [("one", True), ("two", True), ("one", True)]
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "bad",
    [
        Answer("cut", finish_reason="length"),
        Answer("", finish_reason="content_filter"),
        HttpError(400, {"message": "no"}),
    ],
)
def test_only_complete_answers_are_kept(registry, ask, fast, tmp_path: Path, bad: object) -> None:
    async def go(url: str) -> str:
        options = dataclasses.replace(fast, cache=tmp_path / "c.sqlite", base_url=url)
        model = open_model("openai/m", registry, options)
        try:
            await model.generate(ask())
        except FatalModelError:
            pass
        try:
            return (await model.generate(ask())).text
        finally:
            await model.close()

    with ChatServer([bad], answer="whole") as server:
        assert asyncio.run(go(server.url)) == "whole"
    assert len(server.requests) == 2

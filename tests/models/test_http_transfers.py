"""What the HTTP client sends and keeps: once, no more than it needs, also when calls are cancelled or fail."""

from __future__ import annotations

import asyncio
import gc
import io
import os
import socket
import threading
import time
from pathlib import Path

import pytest
from support.raw_server import OK, THREE, answering, http_client, send, serving

from creval.errors import RetryableModelError
from creval.models.providers.http_messages import FormFile, HttpCall, HttpReply
from creval.models.providers.http_transfer import Transfer


def test_a_fork_of_a_process_that_has_asked_may_ask_too() -> None:
    with answering(OK + THREE) as url:
        send(url)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            got = b"nothing"
            try:
                got = send(url).body
            finally:
                os.write(write, got)
                os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as got_by_child:
            assert got_by_child.read() == b"abc"
        os.waitpid(child, 0)


def test_a_cancellation_counts_even_if_the_reply_is_there_already() -> None:
    """Otherwise an interrupted run would ask on. The loop stands still until all replies have arrived."""

    async def go(url: str) -> list[object]:
        async with http_client() as client:
            calls = [asyncio.create_task(client.send(HttpCall("POST", url, body=b"{}"))) for _ in range(80)]
            while len(asked) < len(calls):
                await asyncio.sleep(0.01)
            may_reply.set()
            for _ in calls:
                assert replied.acquire(timeout=60.0)
            time.sleep(0.05)
            assert all(call.cancel() for call in calls)
            return await asyncio.gather(*calls, return_exceptions=True)

    def talk(connection: socket.socket) -> None:
        assert connection.recv(65_536).endswith(b"{}")
        asked.append(connection)
        may_reply.wait(60.0)
        connection.sendall(OK + THREE)
        replied.release()
        connection.recv(1)  # until the client goes

    asked: list[socket.socket] = []
    may_reply = threading.Event()
    replied = threading.Semaphore(0)
    with serving(talk) as url:
        ends = asyncio.run(go(url))
    assert {type(end) for end in ends} == {asyncio.CancelledError}


def test_a_request_is_sent_once_also_when_a_kept_connection_is_closed_without_an_answer() -> None:
    """libcurl would send it again without a word, and a provider might bill it twice."""
    requests: list[bytes] = []

    def talk(connection: socket.socket) -> None:
        requests.append(connection.recv(65_536))
        connection.sendall(OK + THREE)
        requests.append(connection.recv(65_536))

    async def go(url: str) -> None:
        async with http_client() as client:
            call = HttpCall("POST", url, body=b"{}")
            assert (await client.send(call)).body == b"abc"
            with pytest.raises(RetryableModelError, match="closed the connection without an answer"):
                await client.send(call)

    with serving(talk) as url:
        asyncio.run(go(url))
    assert [request.endswith(b"{}") for request in requests] == [True, True]


FORM = {"purpose": "batch"}


@pytest.mark.parametrize("call", [HttpCall("GET", ""), HttpCall("POST", "", body=b""), HttpCall("POST", "", form=FORM)])
def test_a_request_without_a_body_is_sent_once_too(call: HttpCall) -> None:
    def talk(connection: socket.socket) -> None:
        requests.append(connection.recv(65_536))
        if len(requests) == 1:
            connection.sendall(OK + THREE)
            if connection.recv(65_536):
                requests.append(b"on the first connection")

    async def go(url: str) -> None:
        async with http_client() as client:
            await client.send(HttpCall("POST", url, body=b"{}"))
            with pytest.raises(RetryableModelError, match="closed the connection without an answer"):
                await client.send(call._replace(url=url))

    requests: list[bytes] = []
    with serving(talk) as url:
        asyncio.run(go(url))
    assert len(requests) == 2


def test_a_kept_connection_that_the_server_has_closed_is_not_used() -> None:
    """libcurl would find out only after a second."""

    def talk(connection: socket.socket) -> None:
        requests.append(connection.recv(65_536))
        connection.sendall(OK + THREE)

    async def go(url: str) -> None:
        async with http_client() as client:
            for _ in range(4):
                assert (await client.send(HttpCall("POST", url, body=b"{}"))).body == b"abc"
                await asyncio.sleep(0.05)

    requests: list[bytes] = []
    with serving(talk) as url:
        asyncio.run(go(url))
    assert len(requests) == 4


def test_a_large_call_is_sent_with_its_form_and_kept_in_its_file(tmp_path: Path) -> None:
    """The file of a form is sent from its beginning to its size; a sink takes more than the limit of a body."""
    received = bytearray()

    def talk(connection: socket.socket) -> None:
        while not received.endswith(b"--\r\n"):
            received.extend(connection.recv(65_536))
        connection.sendall(OK + b"Content-Length: 50000\r\n\r\n" + b"x" * 50_000)

    async def go(url: str) -> HttpReply:
        async with http_client() as client:
            file = io.BytesIO(b"line\n" * 40_000 + b"and what was added since")
            form = {"purpose": "batch", "file": FormFile(file, 200_000, "a.jsonl", "application/jsonl")}
            with (tmp_path / "sink").open("wb") as sink:
                return await client.send(HttpCall("POST", url, form=form, sink=sink, large=True))

    with serving(talk) as url:
        reply = asyncio.run(go(url))
    assert (reply.status, reply.body) == (200, b"")
    assert (tmp_path / "sink").read_bytes() == b"x" * 50_000
    assert b"line\n" * 40_000 in received and b'name="file"; filename="a.jsonl"' in received
    assert b'name="purpose"\r\n\r\nbatch\r\n' in received and b"Expect" not in received
    assert b"since" not in received


@pytest.mark.parametrize("large", [False, True])
def test_calls_of_a_client_that_is_closed_fail_and_are_not_cancelled(large: bool) -> None:
    async def go(url: str) -> None:
        async with http_client() as client:
            call = HttpCall("POST", url, body=b"{}", large=large)
            running = asyncio.create_task(client.send(call))
            await asyncio.sleep(0.05)
            await client.close()
            for late in (running, client.send(call)):
                with pytest.raises(RetryableModelError, match="the client is closed"):
                    await late

    with serving(lambda connection: connection.recv(65_536) and threading.Event().wait(0.5)) as url:
        asyncio.run(go(url))


def test_a_failed_call_is_freed_at_once() -> None:
    """Otherwise what has arrived of many failed calls would fill the memory."""

    async def go(url: str) -> None:
        async with http_client() as client:
            for _ in range(5):
                with pytest.raises(RetryableModelError):
                    await client.send(HttpCall("POST", url, body=b"{}"))

    gc.collect()
    gc.disable()
    try:
        with answering(OK + b"Content-Length: 9\r\n\r\nabc") as url:
            before = sum(type(each) is Transfer for each in gc.get_objects())
            asyncio.run(go(url))
            assert sum(type(each) is Transfer for each in gc.get_objects()) == before
    finally:
        gc.enable()


def test_what_a_file_refuses_is_the_error_of_the_call(tmp_path: Path) -> None:
    async def go(url: str) -> None:
        async with http_client() as client:
            with Path("/dev/full").open("wb", buffering=0) as sink, pytest.raises(OSError, match="No space left"):
                await client.send(HttpCall("GET", url, sink=sink, large=True))

    with answering(OK + THREE) as url:
        asyncio.run(go(url))

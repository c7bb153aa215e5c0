"""The HTTP client against servers on the loopback that answer byte by byte what the test says."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading

import pytest
from support.raw_server import CALLER, OK, THREE, answering, http_client, send, serving

from creval.errors import FatalModelError, RetryableModelError
from creval.models.providers.http_messages import HttpCall

READ = {
    "a body of known length": (OK + THREE, b"abc"),
    "chunks": (OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n2;x=y\r\nbc\r\n0\r\n\r\n", b"abc"),
    "to the end of the connection": (OK + b"\r\nabc", b"abc"),
    "HTTP/1.0": (b"HTTP/1.0 200 OK\r\n\r\nabc", b"abc"),
    "bare line feeds": (b"HTTP/1.1 200 OK\nContent-Length: 3\n\nabc", b"abc"),
    "an interim answer": (b"HTTP/1.1 100 Continue\r\n\r\n" + OK + THREE, b"abc"),
    "a header that is no text": (OK + b"X-Y: \xe9\xff\r\n" + THREE, b"abc"),
    "a type that is no text": (OK + b"Content-Type: text/pl\xe9in\r\n" + THREE, b"abc"),
    "one header twice": (OK + b"X-Y: a\r\nX-Y: b\r\n" + THREE, b"abc"),
    "a long header": (OK + b"X-Y: " + b"a" * 60_000 + b"\r\n" + THREE, b"abc"),
    "compressed": (OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"abc"), b"abc"),
    "nothing": (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
}
FAULTS = {
    "closed at once": (b"", "closed the connection without an answer"),
    "no HTTP": (b"hello there\r\n\r\n", "HTTP/0.9"),
    "no status": (b"HTTP/1.1 0 OK\r\n" + THREE, "Unsupported HTTP"),
    "a broken header": (OK + b"broken\r\n" + THREE, "Header without colon"),
    "hundreds of headers": (OK + b"".join(b"X%d: a\r\n" % i for i in range(9000)) + THREE, "[Tt]oo many|too large"),
    "an overlong header": (OK + b"X-Y: " + b"a" * 150_000 + b"\r\n" + THREE, "failed: libcurl's error 100"),
    "cut short": (OK + b"Content-Length: 9\r\n\r\nabc", "6 bytes missing"),
    "a broken chunk": (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc", "chunk hex-length"),
    "no gzip": (OK + b"Content-Encoding: gzip\r\n" + THREE, "content unencoding"),
    "an endless body": (OK + b"\r\n" + b"a" * 10_001, "longer than 10000 bytes"),
    "a body that unpacks to more": (
        OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"a" * 1_000_000),
        "longer than 10000 bytes",
    ),
}


def test_a_server_that_names_an_unknown_encoding_is_asked_for_plain_text() -> None:
    """Some servers name a character set there. libcurl does not read on, so the first call is lost."""
    requests: list[bytes] = []

    def talk(connection: socket.socket) -> None:
        requests.append(connection.recv(65_536))
        connection.sendall(OK + b"Content-Encoding: UTF-8\r\n" + THREE)

    async def go(url: str) -> list[bytes]:
        async with http_client() as client:
            call = HttpCall("POST", url, body=b"{}")
            with pytest.raises(RetryableModelError, match="unknown Content-Encoding") as caught:
                await client.send(call)
            assert caught.value.retry_after == 0.0
            return [(await client.send(call)).body for _ in range(2)]

    with serving(talk) as url:
        assert asyncio.run(go(url)) == [b"abc", b"abc"]
    assert [b"Accept-Encoding" in request for request in requests] == [True, False, False]


def test_every_form_of_an_answer_is_read() -> None:
    for name, (data, body) in READ.items():
        with answering(data) as url:
            assert send(url).body == body, name


def test_what_is_no_whole_answer_may_pass_and_is_reported_in_words() -> None:
    for name, (data, words) in FAULTS.items():
        with answering(data) as url, pytest.raises(RetryableModelError, match=words) as caught:
            send(url)
        assert caught.value.where == CALLER.where and "http://127" not in str(caught.value), name


def test_headers_are_read_whatever_their_case() -> None:
    with answering(OK + b"RETRY-After: 3\r\nX-Y: a\r\nx-y: b\r\nX-Z: \xff\r\n" + THREE) as url:
        reply = send(url)
    assert reply.headers == {"retry-after": "3", "x-y": "a", "content-length": "3"}


def test_a_trailer_is_no_header() -> None:
    with answering(OK + b"X-Y: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Z: b\r\nRetry-After: 9\r\n\r\n") as url:
        assert send(url).headers == {"x-y": "a", "transfer-encoding": "chunked"}


def test_each_limit_of_time_is_named() -> None:
    def silent(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.recv(1)  # until the client goes

    def slow(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(OK + THREE[:-1])
        connection.recv(1)

    for talk in (silent, slow):
        for large in (False, True):
            with serving(talk) as url, pytest.raises(RetryableModelError, match=r"no answer within 0\.2 s"):
                send(url, seconds=0.2, large=large)


def test_a_large_answer_takes_its_time_as_long_as_something_comes() -> None:
    def slow(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(OK + b"Content-Length: 24\r\n\r\n")
        for letter in b"abcdef" * 4:
            threading.Event().wait(0.05)
            connection.sendall(bytes([letter]))

    with serving(slow) as url:
        assert send(url, seconds=1.0, large=True).body == b"abcdef" * 4
        with pytest.raises(RetryableModelError, match=r"no answer within 0\.4 s"):
            send(url, seconds=0.4)


def test_a_time_limit_of_any_length_is_taken() -> None:
    with answering(OK + THREE) as url:
        for seconds in (1e-3 + 5, 1e12, float("inf")):
            assert send(url, seconds=seconds).status == 200


@pytest.mark.parametrize("address", ["http://127.0.0.1:99999/v1", "http://[::1/v1", "http://a b/v1"])
def test_an_address_that_cannot_be_called_is_fatal(address: str) -> None:
    with pytest.raises(FatalModelError, match=r"address cannot be called.*\nCheck the base URL"):
        send(address)


@pytest.mark.parametrize("header", ["a\r\nX-Evil: b", "a\nb", "a\0b"])
def test_a_header_cannot_begin_another(header: str) -> None:
    async def go() -> None:
        async with http_client(headers={"Authorization": header}) as client:
            await client.send(HttpCall("POST", "http://127.0.0.1:9/v1", body=b"{}"))

    with pytest.raises(FatalModelError, match="a header contains a line break") as caught:
        asyncio.run(go())
    assert "Evil" not in str(caught.value)


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x"])
def test_no_protocol_but_http_is_spoken(address: str) -> None:
    with pytest.raises(FatalModelError, match="address cannot be called"):
        send(address)


def test_an_address_may_have_any_letters_in_its_path() -> None:
    seen: list[bytes] = []

    def talk(connection: socket.socket) -> None:
        seen.append(connection.recv(65_536))
        connection.sendall(OK + THREE)

    with serving(talk) as url:
        send(f"{url}/modèle?x=é&y=%20")
    assert seen[0].startswith(b"POST /v1/mod%C3%A8le?x=%C3%A9&y=%20 HTTP/1.1")

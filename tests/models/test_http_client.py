"""The HTTP client against servers on the loopback that answer byte by byte what the test says, and real proxies."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import gzip
import io
import os
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import certifi
import pytest

from creval.errors import FatalModelError, RetryableModelError, UsageError
from creval.models.providers.failures import Caller
from creval.models.providers.http_client import HttpClient
from creval.models.providers.http_messages import FormFile, HttpCall, HttpReply
from creval.models.providers.http_settings import HttpLimits
from creval.models.providers.http_transfer import Transfer

real = ssl.get_default_verify_paths
KEY = "sk-live-Zx81kQpLm02VvWq7Tr5Yb9Nd"
CALLER = Caller("chat/m at http://server/v1", "m", "OPENAI_API_KEY", (KEY,))
OK = b"HTTP/1.1 200 OK\r\n"
THREE = b"Content-Length: 3\r\n\r\nabc"


def send(
    url: str, proxy: str | None = None, seconds: float = 5.0, most: int = 10_000, large: bool = False
) -> HttpReply:
    async def go() -> HttpReply:
        client = HttpClient(CALLER, HttpLimits(seconds, most), {"Authorization": f"Bearer {KEY}"}, proxy)
        try:
            return await client.send(HttpCall("POST", url, body=b"{}", headers={"X-Own": "1"}, large=large))
        finally:
            await client.close()

    return asyncio.run(go())


@contextlib.contextmanager
def serving(talk: Callable[[socket.socket], None], context: ssl.SSLContext | None = None) -> Iterator[str]:
    """A server that talks on each connection, and closes it."""
    with socket.create_server(("127.0.0.1", 0)) as plain:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = plain.accept()
                    threading.Thread(target=handle, args=(connection,), daemon=True).start()

        def handle(connection: socket.socket) -> None:
            with contextlib.suppress(OSError), connection:
                talk(context.wrap_socket(connection, server_side=True) if context else connection)

        threading.Thread(target=accept, daemon=True).start()
        yield f"{'https' if context else 'http'}://127.0.0.1:{plain.getsockname()[1]}/v1"
        with contextlib.suppress(OSError):
            plain.shutdown(socket.SHUT_RDWR)


def answering(*pieces: bytes, context: ssl.SSLContext | None = None) -> contextlib.AbstractContextManager[str]:
    def talk(connection: socket.socket) -> None:
        connection.recv(65_536)
        for piece in pieces:
            connection.sendall(piece)
        connection.shutdown(socket.SHUT_WR)

    return serving(talk, context)


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
        client = HttpClient(CALLER, HttpLimits(5.0, 10_000), {}, None)
        call = HttpCall("POST", url, body=b"{}")
        with pytest.raises(RetryableModelError, match="unknown Content-Encoding") as caught:
            await client.send(call)
        assert caught.value.retry_after == 0.0
        bodies = [(await client.send(call)).body for _ in range(2)]
        await client.close()
        return bodies

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
    with pytest.raises(FatalModelError, match="address cannot be called"):
        send(address)


# --- TLS --------------------------------------------------------------------------------------------


def certificate(folder: Path, *more: str) -> tuple[ssl.SSLContext, Path]:
    """A server's TLS, and the file of its certificate, which nobody signed."""
    key, own = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", *more]
    subprocess.run([*command, "-keyout", str(key), "-out", str(own)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own, key)
    return context, own


def test_a_certificate_of_ones_own_is_trusted_where_the_variable_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, own = certificate(tmp_path, "-addext", "basicConstraints=critical,CA:FALSE")
    with answering(OK + THREE, context=context) as url:
        with pytest.raises(FatalModelError, match="export SSL_CERT_FILE="):
            send(url)
        monkeypatch.setenv("SSL_CERT_FILE", str(own))
        assert send(url).body == b"abc"
        with pytest.raises(FatalModelError, match="target hostname"):
            send(url.replace("127.0.0.1", "localhost"))
        broken = tmp_path / "broken.pem"
        broken.write_text("-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n")
        monkeypatch.setenv("SSL_CERT_FILE", str(broken))
        with pytest.raises(UsageError, match="SSL_CERT_FILE: the file of certificates contains an invalid certificate"):
            send(url)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "absent.pem"))
        with pytest.raises(UsageError, match="SSL_CERT_FILE: the file of certificates cannot be read"):
            send(url)


def test_the_path_of_a_certificate_may_have_any_letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "jürgen"
    folder.mkdir()
    context, own = certificate(folder)
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    with answering(OK + THREE, context=context) as url:
        assert send(url).body == b"abc"


def test_without_a_file_the_systems_folder_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context, own = certificate(tmp_path)
    folder = tmp_path / "certs"
    folder.mkdir()
    (folder / "own.pem").write_bytes(own.read_bytes())
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(folder))
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: real()._replace(cafile=None))
    with answering(OK + THREE, context=context) as url:
        with pytest.raises(FatalModelError, match="self-signed certificate"):  # certifi's, as the folder has no index
            send(url)
        subprocess.run(["openssl", "rehash", str(folder)], check=True)
        assert send(url).body == b"abc"


def test_a_folder_that_the_variable_names_is_trusted_next_to_the_systems_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, own = certificate(tmp_path)
    folder = tmp_path / "certs"
    folder.mkdir()
    (folder / "own.pem").write_bytes(own.read_bytes())
    subprocess.run(["openssl", "rehash", str(folder)], check=True)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: real()._replace(cafile=certifi.where()))
    with answering(OK + THREE, context=context) as url:
        with pytest.raises(FatalModelError, match="self-signed certificate"):
            send(url)
        monkeypatch.setenv("SSL_CERT_DIR", str(folder))
        assert send(url).body == b"abc"


def test_a_certificate_of_an_authority_may_be_a_servers_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """openssl makes one unless it is told otherwise."""
    context, own = certificate(tmp_path)
    with answering(OK + THREE, context=context) as url:
        with pytest.raises(FatalModelError, match="self-signed certificate"):
            send(url)
        monkeypatch.setenv("SSL_CERT_FILE", str(own))
        assert send(url).body == b"abc"


def test_a_server_without_tls_is_fatal() -> None:
    with (
        answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as url,
        pytest.raises(FatalModelError, match="wrong version number"),
    ):
        send(url.replace("http:", "https:"))


# --- proxies ----------------------------------------------------------------------------------------


def proxying(seen: list[bytes]) -> contextlib.AbstractContextManager[str]:
    """A proxy that answers for every http server, and opens a tunnel to where it is asked to."""

    def talk(connection: socket.socket) -> None:
        head = connection.recv(65_536)
        seen.append(head)
        method, target, _ = head.split(b" ", 2)
        if method != b"CONNECT":
            connection.sendall(OK + THREE)
            return
        host, _, port = target.decode().rpartition(":")
        with socket.create_connection((host, int(port))) as other:
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            threading.Thread(target=pump, args=(other, connection), daemon=True).start()
            pump(connection, other)

    return serving(talk)


def pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


def test_calls_go_through_the_proxy_and_its_password_is_sent_but_never_shown() -> None:
    seen: list[bytes] = []
    with proxying(seen) as proxy:
        address = proxy.removesuffix("/v1").removeprefix("http://")
        assert send("http://far.example/v1/x", f"http://user:geheim-lang@{address}").body == b"abc"
        assert send("http://far.example/v1/x", address).body == b"abc"
    assert seen[0].startswith(b"POST http://far.example/v1/x HTTP/1.1\r\n")
    assert (
        b"Proxy-Authorization: Basic dXNlcjpnZWhlaW0tbGFuZw==" in seen[0].title()
        or b"dXNlcjpnZWhlaW0tbGFuZw==" in seen[0]
    )
    with pytest.raises(RetryableModelError) as caught:
        send("http://far.example/v1/x", f"http://user:geheim-lang@{address}")
    assert "geheim" not in f"{caught.value}{caught.value!r}"


def test_a_host_may_have_any_letters() -> None:
    seen: list[bytes] = []
    with proxying(seen) as proxy:
        assert send("http://bücher.example:81/v1", proxy.removesuffix("/v1")).body == b"abc"
    assert seen[0].startswith(b"POST http://xn--bcher-kva.example:81/v1 ")


def test_tls_goes_through_the_proxys_tunnel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context, own = certificate(tmp_path, "-addext", "basicConstraints=critical,CA:FALSE")
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    seen: list[bytes] = []
    with answering(OK + THREE, context=context) as url, proxying(seen) as proxy:
        assert send(url, proxy.removesuffix("/v1")).body == b"abc"
    assert seen[0].startswith(b"CONNECT 127.0.0.1:") and KEY.encode() not in b"".join(seen)


@pytest.mark.parametrize(
    "proxy",
    [
        "http://[::1",
        "http://u:geheim@[",
        "http://",
        "ftp://u:geheim@h:3",
        "http://u:ge heim@h:3",
        "http://u:gehéim@h:3",
    ],
)
def test_a_proxy_that_is_no_address_is_the_users_mistake(proxy: str) -> None:
    with pytest.raises(UsageError, match="proxy") as caught:
        send("http://far.example/v1", proxy)
    assert "geheim" not in str(caught.value)


# --- processes --------------------------------------------------------------------------------------


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
        client = HttpClient(CALLER, HttpLimits(5.0, 10_000), {}, None)
        calls = [asyncio.create_task(client.send(HttpCall("POST", url, body=b"{}"))) for _ in range(80)]
        while len(asked) < len(calls):
            await asyncio.sleep(0.01)
        may_reply.set()
        for _ in calls:
            assert replied.acquire(timeout=60.0)
        time.sleep(0.05)
        assert all(call.cancel() for call in calls)
        ends = await asyncio.gather(*calls, return_exceptions=True)
        await client.close()
        return ends

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
        client = HttpClient(CALLER, HttpLimits(5.0, 10_000), {}, None)
        call = HttpCall("POST", url, body=b"{}")
        assert (await client.send(call)).body == b"abc"
        with pytest.raises(RetryableModelError, match="closed the connection without an answer"):
            await client.send(call)
        await client.close()

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
        client = HttpClient(CALLER, HttpLimits(5.0, 10_000), {}, None)
        await client.send(HttpCall("POST", url, body=b"{}"))
        with pytest.raises(RetryableModelError, match="closed the connection without an answer"):
            await client.send(call._replace(url=url))
        await client.close()

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
        client = HttpClient(CALLER, HttpLimits(5.0, 10_000), {}, None)
        for _ in range(4):
            assert (await client.send(HttpCall("POST", url, body=b"{}"))).body == b"abc"
            await asyncio.sleep(0.05)
        await client.close()

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
        client = HttpClient(CALLER, HttpLimits(5.0, 10_000), {}, None)
        file = io.BytesIO(b"line\n" * 40_000 + b"and what was added since")
        form = {"purpose": "batch", "file": FormFile(file, 200_000, "a.jsonl", "application/jsonl")}
        with (tmp_path / "sink").open("wb") as sink:
            reply = await client.send(HttpCall("POST", url, form=form, sink=sink, large=True))
        await client.close()
        return reply

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
        client = HttpClient(CALLER, HttpLimits(5.0, 10_000), {}, None)
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
        client = HttpClient(CALLER, HttpLimits(5.0, 10_000), {}, None)
        for _ in range(5):
            with pytest.raises(RetryableModelError):
                await client.send(HttpCall("POST", url, body=b"{}"))
        await client.close()

    gc.collect()
    gc.disable()
    try:
        with answering(FAULTS["cut short"][0]) as url:
            before = sum(type(each) is Transfer for each in gc.get_objects())
            asyncio.run(go(url))
            assert sum(type(each) is Transfer for each in gc.get_objects()) == before
    finally:
        gc.enable()


def test_what_a_file_refuses_is_the_error_of_the_call(tmp_path: Path) -> None:
    async def go(url: str) -> None:
        client = HttpClient(CALLER, HttpLimits(5.0, 10_000), {}, None)
        try:
            with Path("/dev/full").open("wb", buffering=0) as sink, pytest.raises(OSError, match="No space left"):
                await client.send(HttpCall("GET", url, sink=sink, large=True))
        finally:
            await client.close()

    with answering(OK + THREE) as url:
        asyncio.run(go(url))


@pytest.mark.parametrize("header", ["a\r\nX-Evil: b", "a\nb", "a\0b"])
def test_a_header_cannot_begin_another(header: str) -> None:
    async def go() -> None:
        client = HttpClient(CALLER, HttpLimits(5.0, 10_000), {"Authorization": header}, None)
        try:
            await client.send(HttpCall("POST", "http://127.0.0.1:9/v1", body=b"{}"))
        finally:
            await client.close()

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

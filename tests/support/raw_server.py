"""Servers and proxies on the loopback that answer byte by byte what a test says, and one call to them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path

from creval.models.providers.failures import Caller
from creval.models.providers.http_client import HttpClient
from creval.models.providers.http_messages import HttpCall, HttpReply
from creval.models.providers.http_settings import HttpLimits

__all__ = [
    "CALLER",
    "KEY",
    "OK",
    "THREE",
    "answering",
    "certificate",
    "http_client",
    "proxying",
    "send",
    "serving",
]

KEY = "sk-live-Zx81kQpLm02VvWq7Tr5Yb9Nd"
CALLER = Caller("chat/m at http://server/v1", "m", "OPENAI_API_KEY", (KEY,))
OK = b"HTTP/1.1 200 OK\r\n"
THREE = b"Content-Length: 3\r\n\r\nabc"


@contextlib.asynccontextmanager
async def http_client(
    seconds: float = 5.0, most: int = 10_000, headers: Mapping[str, str] | None = None, proxy: str | None = None
) -> AsyncIterator[HttpClient]:
    """A client that is closed at the end."""
    client = HttpClient(CALLER, HttpLimits(seconds, most), headers or {}, proxy)
    try:
        yield client
    finally:
        await client.close()


def send(
    url: str, proxy: str | None = None, seconds: float = 5.0, most: int = 10_000, large: bool = False
) -> HttpReply:
    async def go() -> HttpReply:
        async with http_client(seconds, most, {"Authorization": f"Bearer {KEY}"}, proxy) as client:
            return await client.send(HttpCall("POST", url, body=b"{}", headers={"X-Own": "1"}, large=large))

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


def certificate(folder: Path, *more: str) -> tuple[ssl.SSLContext, Path]:
    """A server's TLS, and the file of its certificate, which nobody signed."""
    key, own = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", *more]
    subprocess.run([*command, "-keyout", str(key), "-out", str(own)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own, key)
    return context, own


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

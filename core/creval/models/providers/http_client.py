"""The HTTP client of a provider: reused connections, time and size limits, and readable failures.

The transport is pyreqwest, whose cost per call is less than half of aiohttp's (benchmarks/overhead).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pyreqwest.client import Client, ClientBuilder
from pyreqwest.exceptions import BuilderError, PyreqwestError, RequestTimeoutError
from pyreqwest.http import HeaderMap
from pyreqwest.multipart import FormBuilder
from pyreqwest.proxy import ProxyBuilder
from pyreqwest.request import StreamRequest
from pyreqwest.response import Response

from creval.errors import FatalModelError, ModelError, RetryableModelError, UsageError
from creval.lazy_pattern import lazy_pattern
from creval.models.providers.failures import Caller
from creval.models.secrets import redact

__all__ = ["HttpCall", "HttpClient", "HttpLimits", "HttpReply"]

CONNECT_SECONDS = 30.0
IDLE_SECONDS = 60.0
LONGEST_SECONDS = 1e9
"""A longer time limit means none."""
_CONNECTING = "client error (Connect)"
"""pyreqwest's cause if a connection was not established."""
CERTIFICATES = "SSL_CERT_FILE"
"""The variable that names a file of certificates to trust, next to those of the system."""
_OF_AUTHORITY = "CaUsedAsEndEntity"
_TOO_MANY_FILES = lazy_pattern(r"\(os error 2[34]\)")
_TLS = lazy_pattern(r"(?:invalid peer certificate|received (?:corrupt|fatal|unexpected)|peer (?:is|misbehaved))")
"""Prefixes of causes that a retry does not change: the server has no TLS, or none that this client accepts."""


class HttpReply(NamedTuple):
    """A server's response. Header names are in lower case; of several headers with one name the first is kept."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpCall(NamedTuple):
    """One call: the full address, and the data to send.

    `sink`: a body of status 200 is written there, whatever its length. `large`: the time limit applies to each read,
    not to the whole call.
    """

    method: str
    url: str
    body: bytes | None = None
    headers: Mapping[str, str] | None = None
    query: Mapping[str, str] | None = None
    form: FormBuilder | None = None
    sink: BinaryIO | None = None
    large: bool = False


class HttpLimits(NamedTuple):
    """`seconds` for a call, and the most bytes of a body once it is decompressed."""

    seconds: float
    bytes: int


class HttpClient:
    """Calls to the servers of one provider. Redirects are not followed, and cookies not kept.

    Create and use it within one event loop, and close it at the end. `headers` go with every call; `proxy` is the
    address of the proxy to use.
    """

    def __init__(self, caller: Caller, limits: HttpLimits, headers: Mapping[str, str], proxy: str | None) -> None:
        self._caller = caller
        self._limits = limits
        self._headers = dict(headers)
        self._proxy = proxy
        self._clients: dict[bool, Client] = {}

    async def send(self, call: HttpCall) -> HttpReply:
        """Make one call. Raises RetryableModelError or FatalModelError if no complete answer arrived."""
        client = self._clients.get(call.large) or self._open(call.large)
        task = asyncio.current_task()
        assert task is not None
        cancellations = task.cancelling()
        try:
            async with self._request(client, call) as response:
                headers = _headers(response)
                if call.sink is None or response.status != 200:
                    return HttpReply(response.status, headers, await self._bounded(response))
                while (chunk := await response.body_reader.read_chunk()) is not None:
                    call.sink.write(chunk.to_bytes())
                return HttpReply(response.status, headers, b"")
        except RequestTimeoutError as error:
            raise self._too_late(error) from None
        except PyreqwestError as error:
            raise self._failure(error) from None
        finally:
            if task.cancelling() > cancellations:  # pyreqwest ignores a cancellation if the reply is there already
                raise asyncio.CancelledError

    async def close(self) -> None:
        """Close the connections."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.close()

    def _open(self, large: bool) -> Client:
        """Create the connection pool for large calls, or for the others."""
        limit = timedelta(seconds=min(self._limits.seconds, LONGEST_SECONDS))
        builder = ClientBuilder().default_headers(self._headers).user_agent("creval").follow_redirects(False)
        builder = builder.referer(False).no_proxy().connect_timeout(timedelta(seconds=CONNECT_SECONDS))
        builder = builder.pool_idle_timeout(timedelta(seconds=IDLE_SECONDS))
        builder = builder.read_timeout(limit) if large else builder.timeout(limit)
        if self._proxy is not None:
            builder = builder.proxy(self._proxy_builder())
        try:
            if trusted := os.environ.get(CERTIFICATES):
                builder = builder.add_root_certificate_pem(_pem(trusted))
            client = self._clients[large] = builder.build()
        except BuilderError:
            raise _bad_certificates("contains an invalid certificate") from None
        except RuntimeError:
            raise UsageError(
                "no model can be called in a fork of a process that has called one",
                fix="Start processes by multiprocessing's method 'spawn', or fork before the first call.",
            ) from None
        return client

    def _proxy_builder(self) -> ProxyBuilder:
        address = self._proxy or ""
        try:
            return ProxyBuilder.all(address if "://" in address else f"http://{address}")
        except ValueError:
            raise UsageError(
                "the address of the proxy in the environment cannot be read",
                where="http_proxy, https_proxy",
                fix="Write it as http://host:port.",
            ) from None

    def _request(self, client: Client, call: HttpCall) -> StreamRequest:
        try:
            builder = client.request(call.method, call.url)
            if call.headers:
                builder = builder.headers(call.headers)
            if call.query:
                builder = builder.query(call.query)
        except ValueError as error:  # says which part is wrong, without the address
            raise FatalModelError(f"the address cannot be called: {error}", where=self._caller.where) from None
        if call.form is not None:
            builder = builder.multipart(call.form)
        elif call.body is not None:
            builder = builder.body_bytes(call.body)
        return builder.build_streamed()

    async def _bounded(self, response: Response) -> bytes:
        """Read the body; its decompressed size is limited."""
        body = await response.body_reader.read(self._limits.bytes + 1)
        if body is None:
            return b""
        if len(body) > self._limits.bytes:
            what = f"the reply is longer than {self._limits.bytes} bytes"
            raise RetryableModelError(what, where=self._caller.where)
        return body.to_bytes()

    def _too_late(self, error: RequestTimeoutError) -> ModelError:
        what = f"no answer within {self._limits.seconds:g} s"
        if _CONNECTING in _causes(error):
            what = f"no connection within {CONNECT_SECONDS:g} s"
        return RetryableModelError(what, where=self._caller.where)

    def _failure(self, error: PyreqwestError) -> ModelError:
        causes = _causes(error)
        words = redact(causes[-1] if causes else error.message, self._caller.keys)
        fix = "Check that the server runs and that the base URL is right."
        kind: type[ModelError] = RetryableModelError
        if _CONNECTING in causes and any(_TLS.match(cause) for cause in causes):
            kind = FatalModelError
        if any(_OF_AUTHORITY in cause for cause in causes):
            words = "the server's certificate belongs to an authority (CA:TRUE), not to a server"
            fix = "Make one with:  openssl req -x509 -addext basicConstraints=critical,CA:FALSE ... (docs/models.md)"
        elif any("certificate" in cause for cause in causes):
            fix = f"If the certificate is your own:  export {CERTIFICATES}=/path/to/certificate.pem"
        if any(_TOO_MANY_FILES.search(cause) for cause in causes):
            words, fix = "too many files are open", "Raise the limit (ulimit -n 4096), or lower --concurrency."
        return kind(f"the connection failed: {words}", where=self._caller.where, fix=fix)


def _pem(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise _bad_certificates(f"cannot be read: {error.strerror}") from None


def _bad_certificates(what: str) -> UsageError:
    fix = "Name a file of certificates in PEM form, or unset the variable."
    return UsageError(f"the file of certificates {what}", where=CERTIFICATES, fix=fix)


def _causes(error: PyreqwestError) -> list[str]:
    """Return the causes of a failure, the innermost last."""
    details = getattr(error, "details", None) or {}
    return [cause["message"] for cause in details.get("causes") or ()]


def _headers(response: Response) -> dict[str, str]:
    """Return the headers, except those that are not text."""
    headers = response.headers
    try:
        return dict(headers)
    except ValueError:
        return dict(_texts(headers))


def _texts(headers: HeaderMap) -> Iterator[tuple[str, str]]:
    for name in headers:
        with contextlib.suppress(ValueError):
            yield name, headers[name]

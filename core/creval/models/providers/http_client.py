"""The HTTP client of a provider: reused connections, time and size limits, and readable failures.

The transport is libcurl through pycurl, whose cost per call is less than half of aiohttp's (benchmarks/overhead).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping

import pycurl

from creval.errors import RetryableModelError
from creval.models.providers.failures import Caller
from creval.models.providers.http_connections import Connections
from creval.models.providers.http_failures import bad_address, failure_of
from creval.models.providers.http_messages import HttpCall, HttpReply
from creval.models.providers.http_settings import (
    MOST_CONNECTIONS,
    Certificates,
    HttpLimits,
    apply_settings,
    trusted_certificates,
)
from creval.models.providers.http_transfer import Transfer

__all__ = ["HttpClient"]

_UNKNOWN_ENCODING = "Unrecognized content encoding"


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
        self._trusted: Certificates | None = None
        self._multi = pycurl.AsyncCurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, MOST_CONNECTIONS)
        self._connections = Connections()
        self._unused: list[Transfer] = []
        self._decompress = True

    async def send(self, call: HttpCall) -> HttpReply:
        """Make one call. Raises RetryableModelError or FatalModelError if no complete answer arrived."""
        if self._multi.closed:
            raise self._closed()
        reusable = not call.large and call.form is None and call.sink is None
        transfer = self._unused.pop() if reusable and self._unused else self._open()
        complete = False
        try:
            transfer.prepare(call, self._headers)
            await self._perform(transfer, call.large)
            reply = transfer.reply()
            complete = True
            return reply
        except asyncio.CancelledError:
            if not self._multi.closed or _is_task_cancelled():
                raise
            raise self._closed() from None
        except pycurl.error as error:
            raise self._failure(transfer, error) from None
        except ValueError as error:
            raise bad_address(str(error), self._caller) from None
        finally:
            if complete and reusable:
                self._unused.append(transfer)
            else:  # frees what has arrived now, not when Python next looks for cycles
                transfer.curl.close()

    async def close(self) -> None:
        """Close the connections. Calls in flight fail."""
        await self._multi.aclose()
        transfers, self._unused = self._unused, []
        for transfer in transfers:
            transfer.curl.close()

    async def _perform(self, transfer: Transfer, large: bool) -> None:
        """Make a call, on a new connection if the server has closed the kept one."""
        try:
            await self._start(transfer, large)
        except pycurl.error:
            if not transfer.is_stale:
                raise
            transfer.is_stale = False
            transfer.curl.setopt(pycurl.FRESH_CONNECT, 1)
            await self._start(transfer, large)

    def _start(self, transfer: Transfer, large: bool) -> Awaitable[object]:
        return self._send_patiently(transfer) if large else self._multi.add_handle(transfer.curl)

    def _open(self) -> Transfer:
        if self._trusted is None:
            self._trusted = trusted_certificates()
        transfer = Transfer(self._limits.bytes, self._connections)
        apply_settings(transfer.curl, self._limits, self._proxy, self._trusted)
        if self._decompress:
            transfer.curl.setopt(pycurl.ACCEPT_ENCODING, "")  # whatever libcurl can decompress
        return transfer

    async def _send_patiently(self, transfer: Transfer) -> None:
        """Make a call whose time limit begins anew with each piece that is sent or received."""
        loop = asyncio.get_running_loop()
        seconds = self._limits.seconds
        transfer.curl.setopt(pycurl.TIMEOUT_MS, 0)
        try:
            async with asyncio.timeout(seconds) as limit:
                transfer.on_data = lambda: limit.reschedule(loop.time() + seconds)
                await self._multi.add_handle(transfer.curl)
        except TimeoutError:
            raise RetryableModelError(f"no answer within {seconds:g} s", where=self._caller.where) from None

    def _closed(self) -> RetryableModelError:
        return RetryableModelError("the connection failed: the client is closed", where=self._caller.where)

    def _failure(self, transfer: Transfer, error: pycurl.error) -> Exception:
        """Return the exception to raise for a failed transfer."""
        if transfer.fault is not None:
            return transfer.fault
        if transfer.received > self._limits.bytes:
            what = f"the reply is longer than {self._limits.bytes} bytes"
            return RetryableModelError(what, where=self._caller.where)
        code, message = error.args
        if code == pycurl.E_BAD_CONTENT_ENCODING and message.startswith(_UNKNOWN_ENCODING):
            self._decompress = False
            self._unused.clear()
            what = "the server names an unknown Content-Encoding, so it is asked for plain text"
            return RetryableModelError(what, where=self._caller.where, retry_after=0.0)
        return failure_of(code, message, transfer.curl.getinfo(pycurl.OS_ERRNO), self._caller, self._limits.seconds)


def _is_task_cancelled() -> bool:
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0

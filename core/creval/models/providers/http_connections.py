"""The open connections of a client, to find those that the server has closed before one is used again."""

from __future__ import annotations

import contextlib
import select
import socket
from collections.abc import Iterable

__all__ = ["Connections"]


class Connections:
    """The sockets of connections, by local port. libcurl itself looks for closed ones at most once a second."""

    def __init__(self) -> None:
        self._sockets: dict[int, int] = {}

    def add(self, sockets: Iterable[int]) -> None:
        """Add the sockets of a new connection."""
        for number in sockets:
            with contextlib.suppress(OSError):  # of two addresses that were tried, one is closed again
                self._sockets[_local_port(number)] = number

    def is_closed(self, port: int) -> bool:
        """Return whether something has arrived on an idle connection: it is the server's end."""
        number = self._sockets.get(port)
        if number is None:
            return False
        poll = select.poll()
        poll.register(number, select.POLLIN)
        return any(event != select.POLLNVAL for _, event in poll.poll(0))


def _local_port(number: int) -> int:
    view = socket.socket(fileno=number)
    try:
        return int(view.getsockname()[1])
    finally:
        view.detach()

"""Messages between the outside, the launcher and the supervisors: one JSON object a packet, with descriptors."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from typing import Any

__all__ = ["Packets", "receive", "send"]

_LARGEST = 1 << 16
_DESCRIPTORS = 8


def send(channel: socket.socket, content: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send one message. Raises OSError where nobody listens any more."""
    socket.send_fds(channel, [json.dumps(content).encode()], descriptors, socket.MSG_NOSIGNAL)


def receive(channel: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """Return the next message and its descriptors; (None, []) when the other side is gone.

    Raises OSError (TimeoutError where the socket has a time-out), ValueError where the packet is no message.
    """
    data, descriptors, _, _ = socket.recv_fds(channel, _LARGEST, _DESCRIPTORS)
    if not data:
        return None, descriptors
    content = json.loads(data)
    if not isinstance(content, dict):
        raise ValueError("a packet is no message")
    return content, descriptors


class Packets:
    """Makes connected pairs of sockets that keep messages apart."""

    @staticmethod
    def pair() -> tuple[socket.socket, socket.socket]:
        """Return two connected ends."""
        return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

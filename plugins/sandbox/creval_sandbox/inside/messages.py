"""Messages between the outside, the launcher and the watchers: one packet each, with descriptors.

What the outside says is JSON; what it is answered has a fixed form, which nothing from within can make ambiguous.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from _socket import socket

__all__ = ["OPEN", "Ended", "Gone", "receive", "send", "spoken"]

OPEN = b"open"
"""The answer of a watcher whose surroundings stand; any other answer is what failed."""

_LARGEST = 1 << 16
_DESCRIPTOR = struct.Struct("i")
_DESCRIPTORS = 8
_SPACE = 16 + _DESCRIPTORS * _DESCRIPTOR.size  # of one control message that holds so many
# of Linux; the module `socket`, which names them, makes every fork slower
_SOL_SOCKET, _SCM_RIGHTS, _NO_SIGNAL, _CLOSE_ON_EXEC = 1, 1, 0x4000, 0x40000000
_ENDED = struct.Struct("=iBddQ??")
_STOPS = (None, "cpu_time", "wall_time")


class Gone(Exception):
    """The other side has hung up."""


class Ended(NamedTuple):
    """What a watcher says of a case that has ended.

    `status` is an exit code, or a signal's number below zero; `stop` the limit at which it was killed (`cpu_time`,
    `wall_time` or None); times in seconds; `memory` in bytes; `dirty` whether it changed its folder; `started` whether
    it came as far as the program's first instruction.
    """

    status: int
    stop: str | None
    cpu: float
    wall: float
    memory: int
    dirty: bool
    started: bool

    def packed(self) -> bytes:
        """Return it as a packet."""
        return _ENDED.pack(self.status, _STOPS.index(self.stop), *self[2:])

    @classmethod
    def unpacked(cls, packet: bytes) -> Ended:
        """Return what a packet says. Raises ValueError if it is none."""
        try:
            status, stop, *rest = _ENDED.unpack(packet)
            return cls(status, _STOPS[stop], *rest)
        except (struct.error, IndexError) as error:
            raise ValueError(f"a packet is no ending: {error}") from None


def send(channel: socket, packet: bytes, descriptors: Sequence[int] = ()) -> None:
    """Send one message. Raises OSError if nobody listens any more."""
    passed = b"".join(map(_DESCRIPTOR.pack, descriptors))
    channel.sendmsg([packet], [(_SOL_SOCKET, _SCM_RIGHTS, passed)] if passed else [], _NO_SIGNAL)


def receive(channel: socket) -> tuple[bytes, list[int]]:
    """Return the next packet and its descriptors. Raises Gone, OSError (TimeoutError if there is a time-out)."""
    packet, controls, _, _ = channel.recvmsg(_LARGEST, _SPACE, _CLOSE_ON_EXEC)
    if not packet:
        raise Gone
    return packet, [number for *_, passed in controls for (number,) in _DESCRIPTOR.iter_unpack(passed)]


def spoken(content: Mapping[str, Any]) -> bytes:
    """Return what the outside says as a packet."""
    return json.dumps(content).encode()

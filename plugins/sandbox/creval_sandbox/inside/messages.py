"""Messages between the outside, the launcher and the watchers: one packet each, with descriptors.

Messages from the outside are JSON; answers have a fixed form, which nothing inside can make ambiguous.
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
"""The answer of a watcher whose environment is ready; any other answer says what failed."""

_LARGEST = 1 << 16
_DESCRIPTOR = struct.Struct("i")
_DESCRIPTORS = 8
_SPACE = 16 + _DESCRIPTORS * _DESCRIPTOR.size  # size of one control message with that many descriptors
# constants of Linux; importing the module `socket` for them would make every fork slower
_SOL_SOCKET, _SCM_RIGHTS, _NO_SIGNAL, _CLOSE_ON_EXEC = 1, 1, 0x4000, 0x40000000
_ENDED = struct.Struct("=iBddQ??")
_STOPS = (None, "cpu_time", "wall_time")


class Gone(Exception):
    """The other side has hung up."""


class Ended(NamedTuple):
    """A watcher's report on a case that has ended.

    `status` is an exit code, or a signal's number below zero; `stop` the limit at which it was killed (`cpu_time`,
    `wall_time` or None); times in seconds; `memory` in bytes; `dirty` whether it changed its folder; `started` whether
    it reached the program's first instruction.
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
        """Return the report in a packet. Raises ValueError if it is malformed."""
        try:
            status, stop, *rest = _ENDED.unpack(packet)
            return cls(status, _STOPS[stop], *rest)
        except (struct.error, IndexError) as error:
            raise ValueError(f"a packet is not an ending: {error}") from None


def send(channel: socket, packet: bytes, descriptors: Sequence[int] = ()) -> None:
    """Send one message. Raises OSError if the other side has closed."""
    passed = b"".join(map(_DESCRIPTOR.pack, descriptors))
    channel.sendmsg([packet], [(_SOL_SOCKET, _SCM_RIGHTS, passed)] if passed else [], _NO_SIGNAL)


def receive(channel: socket) -> tuple[bytes, list[int]]:
    """Return the next packet and its descriptors. Raises Gone, OSError (TimeoutError if there is a time-out)."""
    packet, controls, _, _ = channel.recvmsg(_LARGEST, _SPACE, _CLOSE_ON_EXEC)
    if not packet:
        raise Gone
    return packet, [number for *_, passed in controls for (number,) in _DESCRIPTOR.iter_unpack(passed)]


def spoken(content: Mapping[str, Any]) -> bytes:
    """Return a message from the outside as a packet."""
    return json.dumps(content).encode()

"""Watch the cases of one program, as process 1 of the program's namespaces.

The watcher never reads the program or its input; it has only descriptors and clocks. A case cannot affect it: a case
has a separate process namespace, or its signals to process 1 are ignored; the watcher's memory is not readable, and it
uses none of a case's descriptors.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import kernel
from .case import BEGUN, PLACES, become, limit
from .messages import OPEN, Ended, Gone, receive, send

if TYPE_CHECKING:
    from _socket import socket

__all__ = ["watch"]

_SCRATCH = "/tmp"
_FILES = 4096
_SHORTEST = 0.01  # seconds between two checks of a running program's clock


def watch(outside: socket, filters: Mapping[str, kernel.Filter], capable: bool) -> None:
    """Serve one program: its description, then case by case, until the other side hangs up.

    `capable` False: there is no capability to create namespaces, so every case leaves a changed environment.
    """
    try:
        packet, descriptors = receive(outside)
        if tuple(descriptors) != PLACES:
            raise RuntimeError("descriptors stand elsewhere")
        setup = json.loads(packet)
        filter_ = filters.get(setup["profile"]) or kernel.Filter(bytes.fromhex(setup["filter"]))
        _close_in(capable, setup["scratch_bytes"])
        limit(setup)
        spaces = kernel.ProcessSpaces() if capable else None
    except Exception as error:
        send(outside, f"{type(error).__name__}: {error}".encode())
        return
    send(outside, OPEN)
    pristine = _look()
    try:
        while True:
            _, descriptors = receive(outside)
            for place, descriptor in enumerate(descriptors):  # 0 to 2, which the watcher itself never uses
                os.dup2(descriptor, place)
                os.close(descriptor)
            os.pwrite(BEGUN, b"\0", 0)
            begin = time.monotonic()
            pid = spaces.clone() if spaces is not None else kernel.clone()
            if pid == 0:
                become(setup, filter_)
            ended = _ended(outside, pid, setup, begin)
            if spaces is not None:
                spaces.end()
            else:
                kernel.end_all_others()
            send(outside, ended._replace(dirty=spaces is None or _look() != pristine).packed())
    except Gone:
        return


def _close_in(capable: bool, scratch_bytes: int) -> None:
    """Create the program's environment, and check that it is isolated. Raises OSError."""
    if capable:
        kernel.mount_scratch(_SCRATCH, scratch_bytes, _FILES)
        os.utime(_SCRATCH, (0, 0))  # so that any change by a case, however early, changes the times
    kernel.hide_memory()
    os.chdir(_SCRATCH)
    if os.getpid() != 1:
        raise PermissionError("the program has no process namespace of its own")


def _look() -> tuple[int, ...]:
    """Return the state of the scratch folder, to detect changes: its mode, owner, size and times."""
    seen = os.stat(_SCRATCH)  # noqa: PTH116 - pathlib is not imported in here
    times = (seen.st_atime_ns, seen.st_mtime_ns, seen.st_ctime_ns)
    return seen.st_mode, seen.st_nlink, seen.st_uid, seen.st_gid, seen.st_size, *times


def _ended(outside: socket, pid: int, setup: dict[str, Any], begin: float) -> Ended:
    """Watch one case to its end, and return the report. Raises Gone if the other side hung up meanwhile."""
    handle = os.pidfd_open(pid)
    try:
        stop = _wait(outside, handle, kernel.processor_clock(pid), setup, begin)
        if stop is not None:
            os.kill(pid, signal.SIGKILL)
    finally:
        os.close(handle)
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - begin
    return Ended(
        status=os.waitstatus_to_exitcode(status),
        stop=stop,
        cpu=usage.ru_utime + usage.ru_stime,
        wall=wall,
        memory=usage.ru_maxrss * 1024,
        dirty=False,
        started=os.pread(BEGUN, 1, 0) == b"\1",
    )


def _wait(outside: socket, handle: int, clock: int, setup: dict[str, Any], begin: float) -> str | None:
    """Wait until a case ends or reaches a limit. Return `cpu_time`, `wall_time` or None. Raises Gone."""
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(outside, select.POLLIN)
    left, wall_left = setup["cpu_seconds"], setup["wall_seconds"]
    while True:
        pause = max(_SHORTEST, min(left / setup["cores"], wall_left))
        found = [descriptor for descriptor, _ in poll.poll(pause * 1000)]
        if handle in found:
            return None
        if found:
            raise Gone
        left = setup["cpu_seconds"] - time.clock_gettime(clock)
        wall_left = setup["wall_seconds"] - (time.monotonic() - begin)
        if left <= 0:
            return "cpu_time"
        if wall_left <= 0:
            return "wall_time"

"""Watches the cases of one program from beside it: process 1 of the program's own namespaces.

It never reads the program or its input; it holds descriptors and clocks, and what a case does cannot reach it: signals
to process 1 from within are ignored, its memory is closed, and of a case's descriptors it uses none.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import select
import signal
import socket
import time
from collections.abc import Mapping
from typing import Any

from . import kernel
from .case import PLACES, become, prepare
from .messages import receive, send

__all__ = ["supervise"]

_SCRATCH = "/tmp"
_FILES = 4096
_SHORTEST = 0.01  # seconds between two looks at a running program's clock


def supervise(channel: socket.socket, filters: Mapping[str, bytes], mount: bool) -> None:
    """Serve one program: its description, then case by case, until the other side hangs up."""
    try:
        channel = _out_of_the_way(channel)
        setup, (program, page) = receive(channel)
        assert setup is not None
        begun = mmap.mmap(page, mmap.PAGESIZE)
        os.close(page)
        os.set_inheritable(program, False)
        if (program, os.memfd_create("compiled")) != PLACES:
            raise RuntimeError("descriptors stand elsewhere")
        for number in (signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        _close_in(mount, setup["scratch_bytes"])
        filter_ = filters[setup["profile"]]
        prepare(setup)
    except Exception as error:
        send(channel, {"failed": f"{type(error).__name__}: {error}"})
        return
    send(channel, {"open": True})
    while True:
        request, descriptors = receive(channel)
        if request is None:
            return
        for place, descriptor in enumerate(descriptors):  # 0 to 2, which the watcher itself never uses
            os.dup2(descriptor, place)
            os.close(descriptor)
        begun[0] = 0
        begin = time.monotonic()
        pid = kernel.clone()
        if pid == 0:
            become(setup, filter_, begun)
        ending = _ending(channel, pid, setup, begin)
        if ending is None:
            return
        send(channel, {**ending, "started": begun[0] == 1})


def _out_of_the_way(channel: socket.socket) -> socket.socket:
    """The channel at a descriptor above those that a case is given."""
    raised = fcntl.fcntl(channel.detach(), fcntl.F_DUPFD_CLOEXEC, PLACES[-1] + 1)
    os.closerange(PLACES[0], raised)
    return socket.socket(fileno=raised)


def _close_in(mount: bool, scratch_bytes: int) -> None:
    """Make the program's surroundings, and look at every one of them. Raises OSError."""
    if mount:
        kernel.mount_scratch(_SCRATCH, scratch_bytes, _FILES)
    kernel.drop_capabilities()
    kernel.forbid_new_privileges()
    kernel.hide_memory()
    os.chdir(_SCRATCH)
    if os.getpid() != 1:
        raise PermissionError("the program has no process namespace of its own")
    if not os.statvfs("/").f_flag & os.ST_RDONLY:
        raise PermissionError("the root is writable")
    if os.path.exists("/proc/1"):  # noqa: PTH110 - pathlib is not imported in here
        raise PermissionError("processes can be seen")


def _ending(channel: socket.socket, pid: int, setup: dict[str, Any], begin: float) -> dict[str, Any] | None:
    """Watch one case to its end. Returns what it did, or None where the other side hung up meanwhile."""
    stop = _watch(channel, pid, setup, begin)
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - begin
    _sweep()
    if stop == "gone":
        return None
    with os.scandir(_SCRATCH) as entries:
        dirty = next(entries, None) is not None
    return {
        "status": os.waitstatus_to_exitcode(status),
        "stop": stop,
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": wall,
        "memory": usage.ru_maxrss * 1024,
        "dirty": dirty,
    }


def _watch(channel: socket.socket, pid: int, setup: dict[str, Any], begin: float) -> str | None:
    """Wait for the case's end; kill it at a limit. Returns `cpu_time`, `wall_time`, `gone` or None."""
    handle = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(channel, select.POLLIN)
    clock = kernel.processor_clock(pid)
    stop = None
    try:
        while stop is None:
            spent = time.clock_gettime(clock)
            left = setup["cpu_seconds"] - spent
            wall_left = setup["wall_seconds"] - (time.monotonic() - begin)
            if left <= 0:
                stop = "cpu_time"
            elif wall_left <= 0:
                stop = "wall_time"
            else:
                pause = max(_SHORTEST, min(left / setup["cores"], wall_left))
                found = [descriptor for descriptor, _ in poll.poll(pause * 1000)]
                if handle in found:
                    return None
                if found:
                    stop = "gone"
        os.kill(pid, signal.SIGKILL)
        return stop
    finally:
        os.close(handle)


def _sweep() -> None:
    """Kill and reap whatever a case left behind."""
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.waitpid(-1, 0)
    except (ProcessLookupError, ChildProcessError):
        pass

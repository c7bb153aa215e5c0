"""The conversation with a supervisor about one program: its cases go in, what they did comes out.

Inputs go in and outputs come out through sealed or bounded files in memory, so nothing has to be read while a case
runs, and the limit of bytes is the kernel's.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from creval.errors import SandboxError
from creval.sandbox.filters import Profile
from creval.sandbox.inside.case import OUT_OF_MEMORY
from creval.sandbox.inside.messages import receive, send
from creval.types.programs import CaseResult, Limits, Stop

__all__ = ["Conversation", "Ending", "Executable", "say"]

_SETUP_SECONDS = 60.0  # the most that bubblewrap and an interpreter may take to start, on however busy a machine
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
_ERROR_BYTES = 64 << 10  # of standard error that are kept


@dataclass(frozen=True, slots=True)
class Executable:
    """What is handed to the sandbox: Python source or machine code, and the filter it runs under."""

    payload: bytes
    profile: Profile
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ending:
    """What a case did; `dirty` where it left files behind, `lost` where its watcher vanished."""

    result: CaseResult
    dirty: bool = False
    lost: bool = False


def say(channel: socket.socket, content: dict[str, Any], descriptors: Sequence[int], words: Callable[[], str]) -> None:
    """Send one message. Raises SandboxError with the `words` of the other side where it has gone."""
    try:
        send(channel, content, descriptors)
    except OSError as error:
        raise SandboxError.before(words() or str(error)) from None


class Conversation:
    """About one program: opened once its surroundings stand, closed with them."""

    def __init__(
        self, channel: socket.socket, executable: Executable, limits: Limits, words: Callable[[], str]
    ) -> None:
        """Hand the program over. Raises SandboxError, with the `words` of the other side where it has gone."""
        self._channel = channel
        self._limits = limits
        with ExitStack() as stack:
            page = _empty(stack)
            os.ftruncate(page, mmap.PAGESIZE)
            self._begun = mmap.mmap(page, mmap.PAGESIZE)
            say(channel, _setup(executable, limits), (_sealed(executable.payload, stack), page), words)
        channel.settimeout(_SETUP_SECONDS)
        try:
            answer, _ = receive(channel)
        except OSError as error:
            raise SandboxError.before(words() or str(error)) from None
        if answer is None or not answer.get("open"):
            raise SandboxError.before((answer or {}).get("failed") or words() or "it ended without a word")

    def run(self, cases: Sequence[bytes]) -> Iterator[Ending]:
        """Run case after case. Raises SandboxError where one fails before the program's first instruction."""
        self._channel.settimeout(self._limits.wall + _SETUP_SECONDS)
        for case in cases:
            with ExitStack() as stack:
                outputs = [_empty(stack) for _ in range(2)]
                begin = time.monotonic()
                say(self._channel, {}, (_sealed(case, stack), *outputs), lambda: "its watcher has gone")
                yield self._ending(outputs, begin)

    def _ending(self, outputs: Sequence[int], begin: float) -> Ending:
        try:
            last, _ = receive(self._channel)
            if last is not None and last["started"]:
                return Ending(_result(last, outputs, self._limits), dirty=bool(last["dirty"]))
        except (OSError, ValueError, KeyError, TypeError):
            last = None
        if self._begun[0] != 1:
            raise SandboxError.before(f"a case could not be set up ({last})")
        return _lost(begin)


def _setup(executable: Executable, limits: Limits) -> dict[str, Any]:
    return {
        "profile": executable.profile.value,
        "libraries": list(executable.libraries),
        "cores": len(os.sched_getaffinity(0)),
        "cpu_seconds": limits.cpu_seconds,
        "wall_seconds": limits.wall,
        "memory_bytes": limits.memory_bytes,
        "stack_bytes": limits.stack_bytes,
        "output_bytes": limits.output_bytes,
        "scratch_bytes": limits.scratch_bytes,
        "open_files": limits.open_files,
        "threads": limits.threads,
    }


def _lost(begin: float) -> Ending:
    """The watcher vanished after the program had begun: whatever did that, it is held against the program."""
    result = CaseResult(None, None, b"", b"", Stop.TAMPERED, 0.0, time.monotonic() - begin, 0)
    return Ending(result, lost=True)


def _result(last: dict[str, Any], outputs: Sequence[int], limits: Limits) -> CaseResult:
    status = int(last["status"])
    stdout, stderr = os.pread(outputs[0], limits.output_bytes, 0), os.pread(outputs[1], _ERROR_BYTES, 0)
    result = CaseResult(
        exit_code=status if status >= 0 else None,
        signal=None if status >= 0 else -status,
        stdout=stdout,
        stderr=stderr,
        stop=None,
        cpu_seconds=float(last["cpu"]),
        wall_seconds=float(last["wall"]),
        memory_bytes=int(last["memory"]),
    )
    full = max(os.fstat(output).st_size for output in outputs) >= limits.output_bytes
    return replace(result, stop=_stop(result, last["stop"], full, limits))


def _stop(result: CaseResult, stopped: str | None, full: bool, limits: Limits) -> Stop | None:
    """Why the case ended, where it was not by itself. The first of several limits in the order of their certainty."""
    if stopped is not None:
        return Stop(stopped)
    if full or result.signal == signal.SIGXFSZ:
        return Stop.OUTPUT
    if result.signal == signal.SIGXCPU or result.cpu_seconds >= limits.cpu_seconds:
        return Stop.CPU
    if result.exit_code == OUT_OF_MEMORY or b"std::bad_alloc" in result.stderr[-400:]:
        return Stop.MEMORY
    return None


def _sealed(content: bytes, stack: ExitStack) -> int:
    """A file in memory that nobody can change any more, read from its beginning."""
    descriptor = os.memfd_create("sealed", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    stack.callback(os.close, descriptor)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _empty(stack: ExitStack) -> int:
    descriptor = os.memfd_create("output", os.MFD_CLOEXEC)
    stack.callback(os.close, descriptor)
    return descriptor

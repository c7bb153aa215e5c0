"""The conversation with a watcher about one program: it receives cases and returns their results.

Inputs and outputs are passed through sealed or bounded files in memory, so nothing has to be read while a case
runs, and the kernel enforces the limit of bytes.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from creval.plugin.programs import CaseResult, Limits, SandboxError, StopReason
from creval_sandbox.filters import Profile
from creval_sandbox.inside.case import OUT_OF_MEMORY
from creval_sandbox.inside.messages import OPEN, Ended, Gone, receive, send, spoken

__all__ = ["Conversation", "Ending", "Executable", "say"]

_SETUP_SECONDS = 60.0  # limit for starting bubblewrap and an interpreter, even on a busy machine
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
_NEXT = b"next"
_ERROR_BYTES = 64 << 10  # most bytes kept of standard error


@dataclass(frozen=True, slots=True)
class Executable:
    """The input of the sandbox: Python source or machine code, and the filter under which it runs."""

    payload: bytes
    profile: Profile


@dataclass(frozen=True, slots=True)
class Ending:
    """The result of a case; `dirty` if it left files behind, `lost` if its watcher vanished."""

    result: CaseResult
    dirty: bool = False
    lost: bool = False


def say(channel: socket.socket, packet: bytes, descriptors: Sequence[int], words: Callable[[], str]) -> None:
    """Send one message. Raises SandboxError with the `words` of the other side if it has gone."""
    try:
        send(channel, packet, descriptors)
    except OSError as error:
        raise SandboxError.before(words() or str(error)) from None


class Conversation:
    """A conversation about one program: opened when its environment is ready, closed with it."""

    def __init__(
        self,
        channel: socket.socket,
        executable: Executable,
        limits: Limits,
        words: Callable[[], str],
        more: Mapping[str, Any],
    ) -> None:
        """Send the program, with the additional data `more` for its profile.

        Raises SandboxError, with the `words` of the other side if it has gone.
        """
        self._channel = channel
        self._limits = limits
        with ExitStack() as stack:
            begun = _empty(stack)
            os.ftruncate(begun, mmap.PAGESIZE)
            self._begun = mmap.mmap(begun, mmap.PAGESIZE)
            descriptors = (_sealed(executable.payload, stack), _empty(stack), begun)
            say(channel, spoken({**_setup(executable, limits), **more}), descriptors, words)
        channel.settimeout(_SETUP_SECONDS)
        try:
            answer, _ = receive(channel)
        except (OSError, Gone) as error:
            raise SandboxError.before(words() or str(error) or "it ended without a word") from None
        if answer != OPEN:
            raise SandboxError.before(answer.decode("utf-8", "replace"))

    def run(self, cases: Sequence[bytes]) -> Iterator[Ending]:
        """Run case after case. Raises SandboxError if one fails before the program's first instruction."""
        self._channel.settimeout(self._limits.wall + _SETUP_SECONDS)
        for case in cases:
            with ExitStack() as stack:
                outputs = [_empty(stack) for _ in range(2)]
                begin = time.monotonic()
                say(self._channel, _NEXT, (_sealed(case, stack), *outputs), lambda: "its watcher has gone")
                yield self._ending(outputs, begin)

    def _ending(self, outputs: Sequence[int], begin: float) -> Ending:
        last = None
        try:
            last = Ended.unpacked(receive(self._channel)[0])
            if last.started:
                return Ending(_result(last, outputs, self._limits), dirty=last.dirty)
        except (OSError, Gone, ValueError):
            pass
        if self._begun[0] != 1:
            raise SandboxError.before(f"a case could not be set up ({last})")
        return _lost(begin)


def _setup(executable: Executable, limits: Limits) -> dict[str, Any]:
    return {
        "profile": executable.profile.value,
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
    """Return the ending if the watcher vanished after the program began, which is attributed to the program."""
    result = CaseResult(None, None, b"", b"", StopReason.TAMPERED, 0.0, time.monotonic() - begin, 0)
    return Ending(result, lost=True)


def _result(last: Ended, outputs: Sequence[int], limits: Limits) -> CaseResult:
    sizes = [os.fstat(output).st_size for output in outputs]
    result = CaseResult(
        exit_code=last.status if last.status >= 0 else None,
        signal=None if last.status >= 0 else -last.status,
        stdout=os.pread(outputs[0], min(sizes[0], limits.output_bytes), 0),
        stderr=os.pread(outputs[1], min(sizes[1], _ERROR_BYTES), 0),
        stop=None,
        cpu_seconds=last.cpu,
        wall_seconds=last.wall,
        memory_bytes=last.memory,
    )
    stop = _stop(result, last.stop, max(sizes) >= limits.output_bytes, limits)
    return replace(result, stop=stop) if stop is not None else result


def _stop(result: CaseResult, stopped: str | None, full: bool, limits: Limits) -> StopReason | None:
    """Return the limit that ended the case, or None. Of several limits, returns the most certain one."""
    if stopped is not None:
        return StopReason(stopped)
    if full or result.signal == signal.SIGXFSZ:
        return StopReason.OUTPUT
    if result.signal == signal.SIGXCPU or result.cpu_seconds >= limits.cpu_seconds:
        return StopReason.CPU
    if result.exit_code == OUT_OF_MEMORY or b"std::bad_alloc" in result.stderr[-400:]:
        return StopReason.MEMORY
    return None


def _sealed(content: bytes, stack: ExitStack) -> int:
    """Return a sealed file in memory that nobody can change, positioned at its beginning."""
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

"""One worker: a launcher in bubblewrap, started when needed and replaced after any anomaly."""

from __future__ import annotations

import platform
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from creval.plugin.programs import CaseResult, Limits, SandboxError
from creval_sandbox.command import DEVICES, Identity, Started, start
from creval_sandbox.conversation import Conversation, Executable, say
from creval_sandbox.filters import Profile, common_filter, program_filter
from creval_sandbox.inside.messages import spoken
from creval_sandbox.mounts import PACKAGES, Mount, library_versions

__all__ = ["Manner", "Worker"]

# modules that most programs import; each further module makes every fork slower
_MODULES = ("bisect", "collections", "functools", "heapq", "itertools", "math", "random", "re", "typing")
if sys.version_info >= (3, 13):  # whose interpreter uses it to print errors
    _MODULES = (*_MODULES, "traceback")
_LOWEST = 1 << 32
_ADDRESS_BITS = {"x86_64": 46, "aarch64": 38}  # fewer than the kernel gives a process with any settings
_PROGRAMS_A_LAUNCHER = 2000
_PATIENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Manner:
    """How programs are isolated on this machine, as found by probing.

    `nested`: a launcher stays, and each program gets separate namespaces inside it; else one bubblewrap per program.
    `capable`: the launcher may create mounts and namespaces; else there are no devices, and one bubblewrap per case.
    `threads`: whether the kernel limits the threads of a program; only then may it use threads.
    """

    identity: Identity
    nested: bool
    capable: bool = True
    threads: bool = True

    def __str__(self) -> str:
        mode = "nested" if self.nested else "plain"
        return mode + ("" if self.capable else ", no devices") + ("" if self.threads else ", no threads")


class Worker:
    """Runs one program at a time; not thread-safe."""

    def __init__(self, manner: Manner, mounts: Sequence[Mount]) -> None:
        self._manner = manner
        self._mounts = mounts
        self._machine = platform.machine()
        self._common = common_filter(self._machine).hex()
        self._filters = {profile.value: self._filter(profile) for profile in (Profile.PYTHON, Profile.COMPILER)}
        self._launcher: tuple[Started, socket.socket] | None = None
        self._served = 0

    def run(self, executable: Executable, cases: Sequence[bytes], limits: Limits) -> list[CaseResult]:
        """Run one program on each case.

        After a case that left files behind, or whose watcher vanished, the next case gets a new environment.
        Raises SandboxError if the program could not be started twice in a row.
        """
        results: list[CaseResult] = []
        failed_at = -1
        while len(results) < len(cases):
            try:
                self._run_on(executable, cases, limits, results)
            except SandboxError:
                self.end()
                if failed_at == len(results):
                    raise
                failed_at = len(results)
        return results

    def _run_on(
        self, executable: Executable, cases: Sequence[bytes], limits: Limits, results: list[CaseResult]
    ) -> None:
        with self._surroundings(limits) as channel:
            more = self._execution() if executable.profile is Profile.NATIVE else {}
            for ending in Conversation(channel, executable, limits, self._words, more).run(cases[len(results) :]):
                results.append(ending.result)
                if ending.lost:
                    self.end()
                if ending.lost or ending.dirty:
                    return

    def _filter(self, profile: Profile, empty_path: int = 0) -> str:
        return program_filter(profile, self._machine, self._manner.threads, empty_path).hex()

    def _execution(self) -> dict[str, Any]:
        """Return the data to execute machine code once: an unguessable address, and the filter that requires it."""
        empty_path = _LOWEST + secrets.randbelow((1 << _ADDRESS_BITS[self._machine]) - _LOWEST)
        return {"filter": self._filter(Profile.NATIVE, empty_path), "empty_path": empty_path}

    @contextmanager
    def _surroundings(self, limits: Limits) -> Iterator[socket.socket]:
        """Yield the channel of new namespaces for one program, ready for its first case."""
        if not self._manner.nested:
            self.end()
            channel = self._start(limits.scratch_bytes)
            try:
                yield channel
            finally:
                self.end()
            return
        if self._served >= _PROGRAMS_A_LAUNCHER:
            self.close()
        control = self._launcher[1] if self._launcher is not None else self._start(0)
        self._served += 1
        channel, theirs = _pair()
        with channel:
            with theirs:
                say(control, b"program", (theirs.fileno(),), self._words)
            yield channel

    def _start(self, scratch_bytes: int) -> socket.socket:
        capable = self._manner.capable
        control, theirs = _pair()
        with theirs:
            started = start(
                self._mounts, theirs.fileno(), self._manner.identity, capable=capable, scratch_bytes=scratch_bytes
            )
        self._launcher, self._served = (started, control), 0
        setup = {
            "nested": self._manner.nested,
            "capable": capable,
            "devices": DEVICES if capable else (),
            "places": [mount.target for mount in self._mounts if mount.link is None],
            "common": self._common,
            "filters": self._filters,
            "modules": _MODULES,
            "libraries": [str(PACKAGES)] if library_versions() else [],
        }
        say(control, spoken(setup), (), self._words)
        return control

    def _words(self) -> str:
        """Return bubblewrap's error messages, after giving it time to exit."""
        if self._launcher is None:
            return ""
        started, _ = self._launcher
        try:
            started.process.wait(1.0)
        except subprocess.TimeoutExpired:
            return started.words()
        return started.words() or f"bubblewrap ended with exit code {started.process.returncode}"

    def close(self) -> None:
        """Release the launcher, which then exits by itself."""
        self.end(_PATIENCE_SECONDS)

    def end(self, patience: float = 0.0) -> None:
        """Kill the launcher and everything inside it; the next program gets a new one."""
        if self._launcher is not None:
            started, control = self._launcher
            self._launcher = None
            control.close()
            started.end(patience)


def _pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets that preserve message boundaries."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

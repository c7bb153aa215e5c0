"""Probe, before any real run, how this machine can isolate programs; the isolation is never weakened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from creval.plugin import MissingPartError
from creval.plugin.programs import CaseResult, Limits, SandboxError, StopReason
from creval_sandbox.command import bubblewrap_path, identities
from creval_sandbox.conversation import Executable
from creval_sandbox.filters import Profile
from creval_sandbox.mounts import mounts
from creval_sandbox.refusals import fix_of
from creval_sandbox.worker import Manner, Worker

__all__ = ["find_manner", "find_manners"]

_LIMITS = Limits(
    cpu_seconds=0.3, wall_seconds=20.0, memory_bytes=256 << 20, output_bytes=1 << 16, scratch_bytes=1 << 20, threads=4
)

_HOLDS = """
import os
print(sorted(os.listdir("/")), os.getpid(), os.cpu_count() > 0)
"""
_SPINS = "while True: pass"
_WRITES = "while True: print('x' * 1000)"
_GROWS = "x = bytearray(10 ** 9)"
_FILLS = """
for name in range(1000):
    with open(f"/tmp/{name}", "wb") as file:
        file.write(b"x" * 60000)
"""
_THREADS = """
import threading
threading.stack_size(1 << 16)
wait = threading.Event()
started = 0
try:
    while started < 60:
        threading.Thread(target=wait.wait, daemon=True).start()
        started += 1
except RuntimeError:
    pass
print(started)
"""


@cache
def find_manner(mode: str = "") -> Manner:
    """Return the best manner that works here: nested before plain, nobody before root. Probed once per process.

    `mode` forces `nested` or `plain`. Raises MissingPartError with the system's message and a fix.
    """
    refusals: list[str] = []
    manner = next(find_manners(mode, refusals), None)
    if manner is None:
        raise MissingPartError(
            "this system cannot isolate programs:\n  " + "\n  ".join(refusals),
            where="sandbox bubblewrap",
            fix=fix_of(refusals[-1]),
        )
    return manner


def find_manners(mode: str = "", refusals: list[str] | None = None) -> Iterator[Manner]:
    """Yield every manner that works here, best first; `refusals` collects the system's messages about the others.

    Raises MissingPartError if there is no bubblewrap.
    """
    bubblewrap_path()
    for nested, capable in ((True, True), (False, True), (False, False)):
        if mode and nested != (mode == "nested"):
            continue
        for identity in identities():
            manner = Manner(identity, nested, capable)
            try:
                yield _tried(manner)
            except SandboxError as error:
                if refusals is not None:
                    refusals.append(f"{manner}, {identity}: {error.what}")


def _tried(manner: Manner) -> Manner:
    """Run a program that tests every limit. Raises SandboxError if a limit is not enforced."""
    worker = Worker(manner, mounts())
    try:
        if not _run(worker, _HOLDS).succeeded:
            raise SandboxError.before("a harmless program fails")
        for source, stop in ((_SPINS, StopReason.CPU), (_WRITES, StopReason.OUTPUT), (_GROWS, StopReason.MEMORY)):
            if _run(worker, source).stop is not stop:
                raise SandboxError.before(f"the limit {stop.value} does not hold")
        if _run(worker, _FILLS).succeeded:
            raise SandboxError.before("the limit of all files does not hold")
        started = _run(worker, _THREADS).stdout
    finally:
        worker.end()
    bounded = started.strip().isdigit() and int(started) < 60
    return replace(manner, threads=bounded)


def _run(worker: Worker, source: str) -> CaseResult:
    return worker.run(Executable(source.encode(), Profile.PYTHON), [b""], _LIMITS)[0]

"""The sandbox `bubblewrap`: Python and C++ programs under Linux namespaces, without a daemon and without root."""

from __future__ import annotations

import asyncio
import os
import platform
import queue
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from creval.plugin import UsageError
from creval.plugin.programs import CaseResult, Limits, Program, ProgramLanguage, StopReason
from creval_sandbox.command import bubblewrap_version
from creval_sandbox.compiler import Compiler
from creval_sandbox.conversation import Executable
from creval_sandbox.filters import Profile
from creval_sandbox.mounts import compiler_mounts, library_versions, mounts
from creval_sandbox.probe import find_manner
from creval_sandbox.worker import Manner, Worker

__all__ = ["BubblewrapSandbox", "open_bubblewrap"]

MODES = ("", "nested", "plain")


class HasFolder(Protocol):
    """The resource options that a sandbox requires: the folder of compiled programs."""

    @property
    def folder(self) -> Path: ...


def open_bubblewrap(model: str, options: HasFolder) -> BubblewrapSandbox:
    """Open the sandbox; `model` is empty, or the required mode: `nested` or `plain`.

    First runs a program that tests every limit. Raises MissingPartError with a fix if this system cannot isolate
    programs, UsageError for another mode.
    """
    if model not in MODES:
        raise UsageError(
            f"bubblewrap has no mode {model!r}",
            where=f"sandbox bubblewrap/{model}",
            fix="Write bubblewrap, bubblewrap/nested or bubblewrap/plain.",
        )
    return BubblewrapSandbox(find_manner(model), options.folder)


class BubblewrapSandbox:
    """A `Sandbox`. Safe to use from several threads and event loops; close it after use.

    `cache` is the folder for compiled programs. There are `workers` workers; the default is one per processor that this
    process may use.
    """

    def __init__(self, manner: Manner, cache: Path, workers: int | None = None) -> None:
        self._manner = manner
        count = workers or len(os.sched_getaffinity(0))
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="sandbox")
        self._idle: queue.LifoQueue[Worker] = queue.LifoQueue()
        self._workers = [Worker(manner, mounts()) for _ in range(count)]
        for worker in self._workers:
            self._idle.put(worker)
        self._compiler = Compiler(cache / "programs", self._compile_once)
        self._compiling = threading.Lock()

    @property
    def name(self) -> str:
        """The full name: bubblewrap, its mode, the interpreter and the libraries that programs may import."""
        libraries = "".join(f", {name} {version}" for name, version in library_versions().items())
        return f"bubblewrap {bubblewrap_version()} ({self._manner}), Python {platform.python_version()}{libraries}"

    async def run(self, program: Program, cases: Sequence[bytes], limits: Limits | None = None) -> Sequence[CaseResult]:
        """Run a program once for each case, whose bytes are its standard input; return one result per case, in order.

        Everything that a program does after its first instruction is part of its result. Raises SandboxError if it
        could not be started, MissingPartError if its language has no compiler here.
        """
        return await asyncio.wrap_future(self._threads.submit(self._run, program, cases, limits))

    def run_now(self, program: Program, cases: Sequence[bytes], limits: Limits | None = None) -> Sequence[CaseResult]:
        """Do the same as `run`, synchronously."""
        return self._threads.submit(self._run, program, cases, limits).result()

    def _run(self, program: Program, cases: Sequence[bytes], limits: Limits | None) -> Sequence[CaseResult]:
        """Run a program on one of the sandbox's threads, since a launcher ends with the thread that started it."""
        chosen = limits or Limits()
        if program.language is ProgramLanguage.PYTHON:
            source = program.source.encode("utf-8", "surrogatepass")
            return self._with_worker(Executable(source, Profile.PYTHON), cases, chosen)
        with self._compiling:
            made = self._compiler.compile(program)
        if isinstance(made, CaseResult):
            return [replace(made, exit_code=None, signal=None, stop=StopReason.NOT_COMPILED)] * len(cases)
        return self._with_worker(Executable(made, Profile.NATIVE), cases, chosen)

    def close(self) -> None:
        """Wait for running programs, then end every launcher."""
        # a launcher is killed with the thread that started it, so every thread has to live until all have ended
        for farewell in [self._threads.submit(self._let_one_go) for _ in self._workers]:
            farewell.result()
        self._threads.shutdown()

    def _let_one_go(self) -> None:
        self._idle.get().close()

    def _with_worker(self, executable: Executable, cases: Sequence[bytes], limits: Limits) -> Sequence[CaseResult]:
        worker = self._idle.get()
        try:
            return worker.run(executable, cases, limits)
        finally:
            self._idle.put(worker)

    def _compile_once(self, executable: Executable, source: bytes, limits: Limits) -> CaseResult:
        """Run the compiler, in a separate bubblewrap that contains it."""
        worker = Worker(replace(self._manner, nested=False), compiler_mounts())
        try:
            return worker.run(executable, [source], limits)[0]
        finally:
            worker.end()

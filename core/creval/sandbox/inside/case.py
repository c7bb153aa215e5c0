"""One case: a forked process limits itself, and then becomes the program. Nothing here returns."""

from __future__ import annotations

import atexit
import fcntl
import gc
import mmap
import os
import resource
import signal
import sys
import threading
import traceback
import types
from typing import Any, NoReturn

from . import kernel

__all__ = ["OUT_OF_MEMORY", "become"]

OUT_OF_MEMORY = 86
"""The exit code of a Python program that ended by a MemoryError that it did not catch."""

_PROGRAM = 3
_FREE = 64  # descriptors from here on are free while the four are put in place
_OWN_PROCESSES = 8  # of the same user within the sandbox, beside the program's threads


def become(descriptors: tuple[int, ...], setup: dict[str, Any], filter_: bytes, begun: mmap.mmap) -> NoReturn:
    """Turn this process into the program.

    `descriptors` are its standard input, output and error, and the program itself. The first byte of `begun` is set
    when only the program's own doing is left.
    """
    try:
        _keep_only(descriptors)
        _limit(setup)
        kernel.hide_memory()
        kernel.install_filter(filter_)
        begun[0] = 1
        begun.close()
    except BaseException:
        os._exit(125)
    if setup["profile"] == "native":
        _execute()
    _interpret(setup["libraries"])


def _keep_only(wanted: tuple[int, ...]) -> None:
    """Put the descriptors to 0 to 3 and close every other one; the last does not outlive an exec."""
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _FREE) for descriptor in wanted]
    for place, descriptor in enumerate(moved):
        os.dup2(descriptor, place, inheritable=place <= 2)
    os.closerange(len(moved), 1 << 16)


def _limit(setup: dict[str, Any]) -> None:
    whole_seconds = int(setup["cpu_seconds"]) + 1  # the supervisor's clock is finer; this one is the backstop
    stack = setup["stack_bytes"]
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    if most != resource.RLIM_INFINITY:
        stack = min(stack, most)
    for name, value in (
        (resource.RLIMIT_CPU, whole_seconds),
        (resource.RLIMIT_AS, setup["memory_bytes"]),
        (resource.RLIMIT_STACK, stack),
        (resource.RLIMIT_FSIZE, setup["output_bytes"]),
        (resource.RLIMIT_NOFILE, setup["open_files"]),
        (resource.RLIMIT_NPROC, setup["threads"] + _OWN_PROCESSES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        resource.setrlimit(name, (value, value))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def _execute() -> NoReturn:
    try:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execve(_PROGRAM, ["program"], {})
    except BaseException:
        os._exit(127)


def _interpret(libraries: list[str]) -> NoReturn:
    """Run the Python program in this interpreter, which has run nothing else before."""
    code = 1
    try:
        source = _read(_PROGRAM)
        os.close(_PROGRAM)
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        sys.argv[:] = ["program.py"]
        sys.path += libraries
        signal.signal(signal.SIGINT, signal.default_int_handler)
        gc.enable()
        exec(compile(source, "program.py", "exec", dont_inherit=True), module.__dict__)
        code = 0
    except SystemExit as leaving:
        code = _exit_code(leaving.code)
    except MemoryError:
        code = OUT_OF_MEMORY
    except BaseException as error:
        below = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(type(error), error, below)
    _leave(code)


def _read(descriptor: int) -> bytes:
    pieces: list[bytes] = []
    while piece := os.pread(descriptor, 1 << 20, sum(map(len, pieces))):
        pieces.append(piece)
    return b"".join(pieces)


def _exit_code(value: object) -> int:
    """What `sys.exit(value)` means to the system."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xFF
    print(value, file=sys.stderr)
    return 1


def _leave(code: int) -> NoReturn:
    """End as an interpreter does: wait for threads, run what was registered, flush; but tear nothing down."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        code = code or 120
    os._exit(code)

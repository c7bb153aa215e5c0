"""One case: a forked process limits itself, and then becomes the program. Nothing here returns."""

from __future__ import annotations

import atexit
import marshal
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

__all__ = ["OUT_OF_MEMORY", "PLACES", "become", "prepare"]

OUT_OF_MEMORY = 86
"""The exit code of a Python program that ended by a MemoryError that it did not catch."""

_PROGRAM, _COMPILED = 3, 4
PLACES = (_PROGRAM, _COMPILED)
"""Where the watcher keeps the program, and the file for what it is compiled to; above them are its own descriptors."""

_HEAD = 8  # bytes for the length of what is kept
_OWN_PROCESSES = 8  # of the same user within the sandbox, beside the program's threads


def prepare(setup: dict[str, Any]) -> None:
    """Do in the watcher what every case inherits unchanged: limits but for processor time, and a fresh `__main__`."""
    stack = setup["stack_bytes"]
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    if most != resource.RLIM_INFINITY:
        stack = min(stack, most)
    for name, value in (
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
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.argv[:] = ["program.py"]
    sys.path += setup["libraries"]


def become(setup: dict[str, Any], filter_: bytes, begun: mmap.mmap) -> NoReturn:
    """Turn this process into the program, which stands at descriptor 3, with what it is compiled to at 4.

    The first byte of `begun` is set when only the program's own doing is left.
    """
    try:
        os.closerange(_COMPILED + 1, 1 << 16)
        whole_seconds = int(setup["cpu_seconds"]) + 1  # the watcher's clock is finer; this one is the backstop
        resource.setrlimit(resource.RLIMIT_CPU, (whole_seconds, whole_seconds))
        kernel.install_filter(filter_)
        begun[0] = 1
        begun.close()
    except BaseException:
        os._exit(125)
    if setup["profile"] == "native":
        _execute()
    _interpret()


def _execute() -> NoReturn:
    try:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execve(_PROGRAM, ["program"], {})
    except BaseException:
        os._exit(127)


def _interpret() -> NoReturn:
    """Run the Python program in this interpreter, which has run nothing else before."""
    status = 1
    try:
        code = _code()
        exec(code, sys.modules["__main__"].__dict__)
        status = 0
    except SystemExit as leaving:
        status = _exit_code(leaving.code)
    except MemoryError:
        status = OUT_OF_MEMORY
    except BaseException as error:
        below = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(type(error), error, below)
    _leave(status)


def _code() -> types.CodeType:
    """The program compiled, by this case or by an earlier one; nothing of the program has run when it is kept."""
    kept = _read(_COMPILED)
    if kept and len(kept) == _HEAD + int.from_bytes(kept[:_HEAD], "little"):
        code: types.CodeType = marshal.loads(kept[_HEAD:])
    else:
        code = compile(_read(_PROGRAM), "program.py", "exec", dont_inherit=True)
        made = marshal.dumps(code)
        if len(made) + _HEAD < resource.getrlimit(resource.RLIMIT_FSIZE)[0]:
            os.pwrite(_COMPILED, made, _HEAD)
            os.pwrite(
                _COMPILED, len(made).to_bytes(_HEAD, "little"), 0
            )  # last: a case that was cut short keeps nothing
    os.close(_PROGRAM)
    os.close(_COMPILED)
    return code


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

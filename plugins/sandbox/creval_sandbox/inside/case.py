"""One case: a forked process limits itself, and then becomes the program. No function here returns.

All memory that this code touches is copied for each case, so it touches little: it imports no module that programs do
not need, and the launcher or the watcher does as much as possible.
"""

from __future__ import annotations

import atexit
import marshal
import os
import resource
import signal
import sys
import types
from collections.abc import Sequence
from typing import Any, NoReturn

from . import kernel

__all__ = ["BEGUN", "OUT_OF_MEMORY", "PLACES", "become", "limit", "make_ready"]

OUT_OF_MEMORY = 86
"""The exit code of a Python program that ended by a MemoryError that it did not catch."""

_PROGRAM, _COMPILED, BEGUN = PLACES = (3, 4, 5)
"""A watcher's descriptors of the program, of the file for its compiled code, and of the file that marks its start."""

_HEAD = 8  # bytes for the length of the stored code
_OWN_PROCESSES = 8  # of the same user within the sandbox, in addition to the program's threads
_MOST_DESCRIPTORS = 1 << 16


def make_ready(libraries: Sequence[str]) -> None:
    """Set up in the launcher what every program inherits: the common limits, and a fresh `__main__`."""
    for name in (resource.RLIMIT_CORE, resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE):
        resource.setrlimit(name, (0, 0))
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.argv[:] = ["program.py"]
    sys.path += libraries


def limit(setup: dict[str, Any]) -> None:
    """Set in the watcher what every case inherits: the program's limits, except processor time."""
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
    ):
        resource.setrlimit(name, (value, value))
    if "empty_path" in setup:
        kernel.map_zeros(setup["empty_path"])


def become(setup: dict[str, Any], filter_: kernel.Filter) -> NoReturn:
    """Turn this process into the program. The byte written to `BEGUN` marks that only the program runs from then on."""
    try:
        os.closerange(BEGUN + 1, _MOST_DESCRIPTORS)
        whole_seconds = int(setup["cpu_seconds"]) + 1  # the watcher's clock is finer; this one is the backstop
        resource.setrlimit(resource.RLIMIT_CPU, (whole_seconds, whole_seconds))
        kernel.drop_capabilities()
        filter_.install()
        os.pwrite(BEGUN, b"\1", 0)
        os.close(BEGUN)
    except BaseException:
        os._exit(125)
    if setup["profile"] == "native":
        _execute(setup["empty_path"])
    _interpret()


def _execute(empty_path: int) -> NoReturn:
    try:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        kernel.execute_descriptor(_PROGRAM, empty_path)
    finally:  # it returns only if the kernel refuses
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
        _report(error)
    _leave(status)


def _report(error: BaseException) -> None:
    """Print the error to standard error like an interpreter; a failing hook of the program has no effect."""
    try:
        if error.__traceback__ is not None:
            error.__traceback__ = error.__traceback__.tb_next  # without the frame of this file
        sys.excepthook(type(error), error, error.__traceback__)
    except BaseException:
        return


def _code() -> types.CodeType:
    """Return the compiled program, from this or an earlier case; it is stored before any of the program runs."""
    kept = _read(_COMPILED)
    if kept and len(kept) == _HEAD + int.from_bytes(kept[:_HEAD], "little"):
        code: types.CodeType = marshal.loads(kept[_HEAD:])
    else:
        code = compile(_read(_PROGRAM), "program.py", "exec", dont_inherit=True)
        made = marshal.dumps(code)
        if len(made) + _HEAD < resource.getrlimit(resource.RLIMIT_FSIZE)[0]:
            os.pwrite(_COMPILED, made, _HEAD)
            # written last, so that an interrupted case stores nothing
            os.pwrite(_COMPILED, len(made).to_bytes(_HEAD, "little"), 0)
    os.close(_PROGRAM)
    os.close(_COMPILED)
    return code


def _read(descriptor: int) -> bytes:
    return os.pread(descriptor, os.lseek(descriptor, 0, os.SEEK_END), 0)


def _exit_code(value: object) -> int:
    """Return the exit code of `sys.exit(value)`."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xFF
    print(value, file=sys.stderr)
    return 1


def _leave(code: int) -> NoReturn:
    """Exit as an interpreter does: wait for threads, run exit handlers, flush; but skip the teardown."""
    try:
        if threading := sys.modules.get("threading"):
            threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        code = code or 120
    os._exit(code)

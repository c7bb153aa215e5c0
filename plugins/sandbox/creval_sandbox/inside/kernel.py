"""The system calls that Python has no function for. Each raises OSError where the kernel refuses."""

from __future__ import annotations

import ctypes
import os
import signal

__all__ = [
    "Filter",
    "clone",
    "clone_into_namespaces",
    "drop_capabilities",
    "end_all_others",
    "forbid_new_privileges",
    "hide_memory",
    "mount_scratch",
    "processor_clock",
]

# PyDLL keeps the interpreter's lock during the call, which a clone must not let go of
_libc = ctypes.PyDLL(None, use_errno=True)

_CLONE = {"x86_64": 56, "aarch64": 220}
_NEW_MOUNTS, _NEW_IPC, _NEW_PIDS = 0x00020000, 0x08000000, 0x20000000
_SET_DUMPABLE, _SET_SECCOMP, _SET_NO_NEW_PRIVS, _GET_NO_NEW_PRIVS, _AMBIENT = 4, 22, 38, 39, 47
_CLEAR_ALL = 4
_FILTER = 2
_NO_SUID, _NO_DEVICES = 2, 4
_CAPABILITY_VERSION = 0x20080522
_SCHEDULER_CLOCK = 2


_CLONE_NUMBER = ctypes.c_long(_CLONE.get(os.uname().machine, -1))  # of another machine no filter could be made
_ZERO = ctypes.c_ulong(0)


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _prctl(option: int, value: int, what: str, more: object = _ZERO) -> int:
    return _check(_libc.prctl(option, ctypes.c_ulong(value), more, _ZERO, _ZERO), what)


def clone(namespaces: int = 0) -> int:
    """Fork, returning as `os.fork` does, without what Python does after a fork.

    That is needless for a process of one thread, costs a millisecond, and would seed the module `random` anew: without
    it a program's random numbers are the same in every run.
    """
    flags = ctypes.c_ulong(namespaces | signal.SIGCHLD)
    return _check(_libc.syscall(_CLONE_NUMBER, flags, _ZERO, _ZERO, _ZERO, _ZERO), "clone")


def clone_into_namespaces() -> int:
    """Fork into new pid, mount and ipc namespaces."""
    return clone(_NEW_MOUNTS | _NEW_IPC | _NEW_PIDS)


def mount_scratch(path: str, size: int, files: int) -> None:
    """Mount an empty tmpfs of at most `size` bytes and `files` files."""
    options = f"size={size},nr_inodes={files},mode=1777".encode()
    flags = ctypes.c_ulong(_NO_SUID | _NO_DEVICES)
    _check(_libc.mount(b"tmpfs", path.encode(), b"tmpfs", flags, options), f"mount {path}")


def drop_capabilities() -> None:
    """Give up every capability for good, and look whether none is left."""
    _prctl(_AMBIENT, _CLEAR_ALL, "ambient capabilities", ctypes.c_ulong(0))
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    none = (ctypes.c_uint32 * 6)()
    _check(_libc.capset(ctypes.byref(header), ctypes.byref(none)), "capset")
    left = (ctypes.c_uint32 * 6)()
    _check(_libc.capget(ctypes.byref(header), ctypes.byref(left)), "capget")
    if any(left):
        raise PermissionError("capabilities are left")


def forbid_new_privileges() -> None:
    """No program executed from here on gains privileges."""
    _prctl(_SET_NO_NEW_PRIVS, 1, "no_new_privs")
    if _prctl(_GET_NO_NEW_PRIVS, 0, "no_new_privs") != 1:
        raise PermissionError("no_new_privs does not hold")


def hide_memory() -> None:
    """No other process of this user may look into this one's memory."""
    _prctl(_SET_DUMPABLE, 0, "dumpable")


class Filter:
    """A filter of system calls, ready to be installed."""

    def __init__(self, instructions: bytes) -> None:
        self._program = _FilterProgram(len(instructions) // 8, instructions)
        self._reference = ctypes.byref(self._program)

    def install(self) -> None:
        """Filter the calls of this process and its children for good."""
        _prctl(_SET_SECCOMP, _FILTER, "seccomp", self._reference)


def end_all_others() -> None:
    """Kill and reap every other process in this one's namespace."""
    if _libc.kill(-1, signal.SIGKILL) < 0:
        return
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass


def processor_clock(pid: int) -> int:
    """Return the clock of a process's processor time, for `time.clock_gettime`."""
    return (~pid << 3) | _SCHEDULER_CLOCK

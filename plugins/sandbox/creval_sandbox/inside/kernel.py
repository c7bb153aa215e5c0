"""System calls without a function in Python. Each raises OSError if the kernel refuses."""

from __future__ import annotations

import ctypes
import os
import signal

__all__ = [
    "Filter",
    "ProcessSpaces",
    "clone",
    "clone_into_namespaces",
    "drop_capabilities",
    "end_all_others",
    "execute_descriptor",
    "forbid_new_privileges",
    "hide_memory",
    "make_read_only",
    "map_zeros",
    "mount_scratch",
    "processor_clock",
]

# PyDLL keeps the interpreter's lock during the call, which must not be released during a clone
_libc = ctypes.PyDLL(None, use_errno=True)
_map = _libc.mmap
_map.restype = ctypes.c_void_p

_CLONE = {"x86_64": 56, "aarch64": 220}
_NEW_MOUNTS, _NEW_IPC, _NEW_PIDS = 0x00020000, 0x08000000, 0x20000000
_SET_DUMPABLE, _SET_SECCOMP, _SET_NO_NEW_PRIVS, _GET_NO_NEW_PRIVS = 4, 22, 38, 39
_FILTER = 2
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_ACCESS_TIMES, _REMOUNT, _BIND = 1, 2, 4, 1024, 32, 4096
_KEPT = os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME  # the same bits as of mount(2)
_SHARED_MEMORY = 0x00000100
_CAPABILITY_VERSION = 0x20080522
_SCHEDULER_CLOCK = 2
_HEADER = ctypes.byref((ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0))
_NO_CAPABILITIES = ctypes.byref((ctypes.c_uint32 * 6)())
_READ, _PRIVATE_ANONYMOUS, _NO_REPLACEMENT = 1, 0x22, 0x100000
_PAGE = 4096
_EMPTY_PATH = 0x1000


_CLONE_NUMBER = ctypes.c_long(_CLONE.get(os.uname().machine, -1))  # other machines have no filter anyway
_SLEEP = ctypes.cast(_libc.pause, ctypes.c_void_p)
_STACK_BYTES = 1 << 14
_EXECVEAT_NUMBER = ctypes.c_long({"x86_64": 322, "aarch64": 281}.get(os.uname().machine, -1))
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
    """Fork, returning as `os.fork` does, without Python's work after a fork.

    That work is unnecessary for a process with one thread, costs a millisecond, and would reseed the module `random`:
    without it a program's random numbers are the same in every run.
    """
    flags = ctypes.c_ulong(namespaces | signal.SIGCHLD)
    return _check(_libc.syscall(_CLONE_NUMBER, flags, _ZERO, _ZERO, _ZERO, _ZERO), "clone")


def clone_into_namespaces() -> int:
    """Fork into new pid, mount and ipc namespaces."""
    return clone(_NEW_MOUNTS | _NEW_IPC | _NEW_PIDS)


def mount_scratch(path: str, size: int, files: int) -> None:
    """Mount an empty tmpfs of at most `size` bytes and `files` files. Reading it changes no access times."""
    options = f"size={size},nr_inodes={files},mode=1777".encode()
    flags = ctypes.c_ulong(_NO_SUID | _NO_DEVICES | _NO_ACCESS_TIMES)
    _check(_libc.mount(b"tmpfs", path.encode(), b"tmpfs", flags, options), f"mount {path}")


def make_read_only(path: str) -> None:
    """Remount a bind read-only, with its other flags: a device can be written to, but not its metadata."""
    flags = ctypes.c_ulong(_READ_ONLY | _REMOUNT | _BIND | (os.statvfs(path).f_flag & _KEPT))
    _check(_libc.mount(None, path.encode(), None, flags, None), f"mount {path} read-only")


class ProcessSpaces:
    """Gives each case a separate process namespace, so that process ids reveal nothing about earlier cases.

    Its process 1 only sleeps. It shares this process's memory, so that creating it copies nothing; it runs no Python.
    """

    def __init__(self) -> None:
        self._own = os.pidfd_open(os.getpid())
        self._stack = ctypes.create_string_buffer(_STACK_BYTES)
        self._stack_top = ctypes.c_void_p(ctypes.addressof(self._stack) + _STACK_BYTES)
        self._sleeper = 0

    def clone(self) -> int:
        """Fork into a new namespace, as its process 2; returns as `os.fork` does."""
        _check(_libc.unshare(_NEW_PIDS), "unshare")
        self._sleeper = _check(_libc.clone(_SLEEP, self._stack_top, _SHARED_MEMORY | signal.SIGCHLD, None), "clone")
        pid = clone()
        if pid:
            _check(_libc.setns(self._own, _NEW_PIDS), "setns")
        return pid

    def end(self) -> None:
        """Kill and reap all remaining processes in the namespace of the last case, which has been reaped."""
        os.kill(self._sleeper, signal.SIGKILL)
        os.waitpid(self._sleeper, 0)


def drop_capabilities() -> None:
    """Drop every capability permanently, including the ambient ones, and check that none is left."""
    _check(_libc.capset(_HEADER, _NO_CAPABILITIES), "capset")
    left = (ctypes.c_uint32 * 6)()
    _check(_libc.capget(_HEADER, left), "capget")
    if any(left):
        raise PermissionError("capabilities are left")


def forbid_new_privileges() -> None:
    """Prevent programs executed from now on from gaining privileges."""
    _prctl(_SET_NO_NEW_PRIVS, 1, "no_new_privs")
    if _prctl(_GET_NO_NEW_PRIVS, 0, "no_new_privs") != 1:
        raise PermissionError("no_new_privs does not hold")


def hide_memory() -> None:
    """Prevent other processes of this user from reading this process's memory."""
    _prctl(_SET_DUMPABLE, 0, "dumpable")


class Filter:
    """A filter of system calls, ready to be installed."""

    def __init__(self, instructions: bytes) -> None:
        self._program = _FilterProgram(len(instructions) // 8, instructions)
        self._reference = ctypes.byref(self._program)

    def install(self) -> None:
        """Filter the calls of this process and its children permanently."""
        _prctl(_SET_SECCOMP, _FILTER, "seccomp", self._reference)


def map_zeros(address: int) -> None:
    """Map a page of zeros that contains `address`; the page must be free."""
    flags = _PRIVATE_ANONYMOUS | _NO_REPLACEMENT
    start = ctypes.c_void_p(address - address % _PAGE)
    if _map(start, ctypes.c_size_t(_PAGE), _READ, flags, -1, ctypes.c_long(0)) != start.value:
        raise MemoryError("the address of the empty path is taken")


def execute_descriptor(descriptor: int, empty_path: int) -> None:
    """Execute the program of a descriptor. `empty_path` is the address that the filter requires."""
    arguments, environment = (ctypes.c_char_p * 2)(b"program", None), (ctypes.c_char_p * 1)(None)
    path, flags = ctypes.c_void_p(empty_path), ctypes.c_long(_EMPTY_PATH)
    _check(_libc.syscall(_EXECVEAT_NUMBER, ctypes.c_long(descriptor), path, arguments, environment, flags), "execveat")


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

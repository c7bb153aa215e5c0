"""The system call filters (seccomp) as BPF programs.

Two filters are active at once, and the stricter answer counts. One is for everything inside the sandbox, including
launcher and watchers, and is installed once; the other, a short one, is for the programs. At installation the kernel
evaluates a filter for every system call, so a long one for each case would cost more than the rest of its setup.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Sequence
from enum import StrEnum

from creval.plugin import MissingPartError
from creval_sandbox.syscalls import ARGUMENTS, DENIED, EXECUTION, FIRST_UNKNOWN, WATCHING, number_of

__all__ = ["Profile", "common_filter", "program_filter"]


class Profile(StrEnum):
    """The kind of program: interpreted, compiled, or the compiler itself."""

    PYTHON = "python"
    NATIVE = "native"
    COMPILER = "compiler"


_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = (
    0x20,
    0x54,
    0x15,
    0x35,
    0x06,
)  # BPF_LD|W|ABS, ALU|AND|K, JMP|JEQ|K, JMP|JGE|K, RET
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data; for an argument, of its low half
_SECOND_ARGUMENT, _FIFTH_ARGUMENT = 24, 48
_PROGRAM, _EMPTY_PATH = 3, 0x1000  # the watcher's descriptor of the program; AT_EMPTY_PATH
_KILL, _ALLOW, _REFUSE = 0x80000000, 0x7FFF0000, 0x00050000
_THREAD = 0x00010000
_NAMESPACES = 0x7E020080  # CLONE_NEWUSER, PID, NET, IPC, UTS, CGROUP, NS and TIME


class _Assembly:
    """Instructions in order; after every rule the accumulator contains the number of the call."""

    def __init__(self) -> None:
        self.code = b""

    def add(self, operation: int, value: int, then: int = 0, otherwise: int = 0) -> None:
        self.code += struct.pack("=HBBI", operation, then, otherwise, value)

    def when(self, number: int | None, answer: int) -> None:
        """Answer calls of that number."""
        if number is not None:
            self.add(_EQUAL, number, 0, 1)
            self.add(_RETURN, answer)

    def unless_argument(self, number: int | None, mask: int, wanted: int) -> None:
        """Refuse a call of that number unless the first argument, under a mask, equals `wanted`."""
        if number is None:
            return
        self.add(_EQUAL, number, 0, 5)
        self.add(_LOAD, _FIRST_ARGUMENT)
        self.add(_AND, mask)
        self.add(_EQUAL, wanted, 1, 0)
        self.add(_RETURN, _REFUSE | errno.EPERM)
        self.add(_RETURN, _ALLOW)

    def unless_arguments(self, number: int | None, wanted: Sequence[tuple[int, int]]) -> None:
        """Refuse a call of that number unless every (offset, half of an argument) in `wanted` matches."""
        if number is None:
            return
        self.add(_EQUAL, number, 0, 2 * len(wanted) + 2)
        for left, (offset, value) in zip(range(len(wanted) - 1, -1, -1), wanted, strict=True):
            self.add(_LOAD, offset)
            self.add(_EQUAL, value, 0, 2 * left + 1)
        self.add(_RETURN, _ALLOW)
        self.add(_RETURN, _REFUSE | errno.EPERM)

    def when_second_argument(self, number: int | None, values: Sequence[int]) -> None:
        """Refuse a call of that number whose second argument is one of the values."""
        if number is None:
            return
        self.add(_EQUAL, number, 0, 2 * len(values) + 2)
        self.add(_LOAD, _SECOND_ARGUMENT)
        for value in values:
            self.when(value, _REFUSE | errno.EPERM)
        self.add(_RETURN, _ALLOW)


def common_filter(machine: str) -> bytes:
    """Return the filter of the whole sandbox, as an array of `struct sock_filter`.

    Refused calls return EPERM; calls newer than the table and `clone3` (whose flags no filter can read) return ENOSYS,
    so that libraries fall back to older calls. Raises MissingPartError for a machine whose calls are unknown.
    """
    out = _begun(machine)
    out.add(_AT_LEAST, FIRST_UNKNOWN, 0, 1)
    out.add(_RETURN, _REFUSE | errno.ENOSYS)
    for name, numbers in DENIED.items():
        if name not in WATCHING:
            out.when(number_of(numbers, machine), _REFUSE | errno.EPERM)
    for numbers, values in ARGUMENTS.values():
        out.when_second_argument(number_of(numbers, machine), values)
    out.when(number_of(EXECUTION["clone3"], machine), _REFUSE | errno.ENOSYS)
    out.unless_argument(number_of(EXECUTION["prlimit64"], machine), 0xFFFFFFFF, 0)
    out.add(_RETURN, _ALLOW)
    return out.code


def program_filter(profile: Profile, machine: str, threads: bool = True, empty_path: int = 0) -> bytes:
    """Return the second filter of a program, which refuses calls that its watcher may make and the program may not.

    If `threads` is False, it also refuses threads. Machine code has to be executed once after the filter is active: by
    the empty path at the address `empty_path`, which is never revealed to the program.
    Raises MissingPartError for a machine whose calls are unknown.
    """
    refused = _REFUSE | errno.EPERM
    calls = {name: number_of(numbers, machine) for name, numbers in EXECUTION.items()}
    out = _begun(machine)
    for name in WATCHING:
        out.when(number_of(DENIED[name], machine), refused)
    if profile is Profile.COMPILER:
        out.unless_argument(calls["clone"], _NAMESPACES, 0)
    else:
        out.when(calls["fork"], refused)
        out.when(calls["vfork"], refused)
        out.when(calls["execve"], refused)
        if threads:
            out.unless_argument(calls["clone"], _THREAD | _NAMESPACES, _THREAD)
        else:
            out.when(calls["clone"], refused)
    if profile is Profile.PYTHON:
        out.when(calls["execveat"], refused)
    elif profile is Profile.NATIVE:
        out.unless_arguments(
            calls["execveat"],
            [
                (_FIRST_ARGUMENT, _PROGRAM),
                (_SECOND_ARGUMENT, empty_path & 0xFFFFFFFF),
                (_SECOND_ARGUMENT + 4, empty_path >> 32),
                (_FIFTH_ARGUMENT, _EMPTY_PATH),
            ],
        )
    out.add(_RETURN, _ALLOW)
    return out.code


def _begun(machine: str) -> _Assembly:
    """Return a filter that has checked the machine and loaded the number of the call."""
    if machine not in _ARCHITECTURES:
        raise MissingPartError(
            f"the sandbox does not know the system calls of {machine}",
            where="sandbox bubblewrap",
            fix="Run such tasks on x86_64 or aarch64.",
        )
    out = _Assembly()
    out.add(_LOAD, _ARCHITECTURE)
    out.add(_EQUAL, _ARCHITECTURES[machine], 1, 0)
    out.add(_RETURN, _KILL)
    out.add(_LOAD, _NUMBER)
    return out

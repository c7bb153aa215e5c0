"""The filter of system calls, run as the kernel runs it, and its table against the system's own headers."""

from __future__ import annotations

import errno
import platform
import re
import struct
from pathlib import Path

import pytest

from creval.errors import MissingPartError
from creval.sandbox.filters import Profile, filter_program
from creval.sandbox.syscalls import DENIED, EXECUTION, FIRST_UNKNOWN, number_of

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, REFUSED, UNKNOWN, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS, 0x80000000
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


def answer(code: bytes, architecture: int, number: int, first: int = 0) -> int:
    """Run a filter on one call: the few instructions of the kernel's machine that ours use."""
    data = struct.pack("=iIQQ", number, architecture, 0, first).ljust(64, b"\0")
    lines, at, value = [struct.unpack_from("=HBBI", code, i) for i in range(0, len(code), 8)], 0, 0
    while True:
        operation, then, otherwise, operand = lines[at]
        at += 1
        if operation == 0x20:
            (value,) = struct.unpack_from("=I", data, operand)
        elif operation == 0x54:
            value &= operand
        elif operation == 0x15:
            at += then if value == operand else otherwise
        elif operation == 0x35:
            at += then if value >= operand else otherwise
        else:
            assert operation == 0x06
            return operand


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("profile", Profile)
def test_what_each_profile_refuses(machine: str, profile: Profile) -> None:
    code, architecture = filter_program(profile, machine), ARCHITECTURES[machine]
    call = {name: number_of(numbers, machine) for name, numbers in EXECUTION.items()}
    for numbers in DENIED.values():
        number = number_of(numbers, machine)
        assert number is not None
        assert answer(code, architecture, number) == REFUSED
    assert answer(code, architecture, 0) == ALLOW
    assert answer(code, 0x40000003, 0) == KILL
    assert answer(code, architecture, FIRST_UNKNOWN) == answer(code, architecture, 0x40000000) == UNKNOWN
    assert answer(code, architecture, call["clone3"] or 0) == UNKNOWN
    assert answer(code, architecture, call["prlimit64"] or 0, 0) == ALLOW
    assert answer(code, architecture, call["prlimit64"] or 0, 1) == REFUSED
    executes = {Profile.PYTHON: (REFUSED, REFUSED), Profile.NATIVE: (REFUSED, ALLOW), Profile.COMPILER: (ALLOW, ALLOW)}
    found = tuple(answer(code, architecture, call[name] or 0) for name in ("execve", "execveat"))
    assert found == executes[profile]
    thread, process, container = 0x003D0F00, 0x01200011, 0x10000000
    clones = [answer(code, architecture, call["clone"] or 0, flags) for flags in (thread, process, container)]
    assert clones == ([ALLOW, ALLOW, REFUSED] if profile is Profile.COMPILER else [ALLOW, REFUSED, REFUSED])
    assert answer(code, architecture, call["clone"] or 0, thread | 0x20000) == REFUSED


@pytest.mark.parametrize("profile", [Profile.PYTHON, Profile.NATIVE])
def test_threads_can_be_refused(profile: Profile) -> None:
    code = filter_program(profile, "x86_64", threads=False)
    assert answer(code, ARCHITECTURES["x86_64"], 56, 0x003D0F00) == REFUSED


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_numbers_are_the_systems(machine: str) -> None:
    header = HEADERS[machine]
    if not header.is_file():
        assert platform.machine() in ARCHITECTURES
        return
    known = {
        name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", header.read_text())
    }
    for name, numbers in {**DENIED, **EXECUTION}.items():
        number = number_of(numbers, machine)
        if number is not None and name in known:
            assert known[name] == number, name


def test_another_machine_is_refused() -> None:
    with pytest.raises(MissingPartError, match="riscv64"):
        filter_program(Profile.PYTHON, "riscv64")

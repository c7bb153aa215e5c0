"""The filters of system calls, run as the kernel runs them, and their table against the system's own headers."""

from __future__ import annotations

import errno
import platform
import re
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from creval.plugin import MissingPartError
from creval_sandbox.filters import Profile, common_filter, program_filter
from creval_sandbox.syscalls import ARGUMENTS, DENIED, EXECUTION, FIRST_UNKNOWN, WATCHING, number_of

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, REFUSED, UNKNOWN, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS, 0x80000000
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


def answer(codes: Sequence[bytes], architecture: int, number: int, *arguments: int) -> int:
    """What the kernel does of what several filters answer: the strictest, which is the lowest as a signed number."""
    answers = [run(code, architecture, number, arguments) for code in codes]
    return min(answers, key=lambda found: (found & 0xFFFF0000) - (1 << 32 if found & 0x80000000 else 0))


def run(code: bytes, architecture: int, number: int, arguments: Sequence[int]) -> int:
    """Run a filter on one call: the few instructions of the kernel's machine that ours use."""
    data = struct.pack(f"=iIQ{len(arguments)}Q", number, architecture, 0, *arguments).ljust(64, b"\0")
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
    code, architecture = (common_filter(machine), program_filter(profile, machine)), ARCHITECTURES[machine]
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
    executes = {Profile.PYTHON: [REFUSED] * 2, Profile.NATIVE: [REFUSED] * 2, Profile.COMPILER: [ALLOW] * 2}
    found = [answer(code, architecture, call[name] or 0) for name in ("execve", "execveat")]
    assert found == executes[profile]
    thread, process, container = 0x003D0F00, 0x01200011, 0x10000000
    clones = [answer(code, architecture, call["clone"] or 0, flags) for flags in (thread, process, container)]
    assert clones == ([ALLOW, ALLOW, REFUSED] if profile is Profile.COMPILER else [ALLOW, REFUSED, REFUSED])
    assert answer(code, architecture, call["clone"] or 0, thread | 0x20000) == REFUSED


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_machine_code_is_executed_by_the_secret_address_alone(machine: str) -> None:
    secret, number = 0x1234_5678_9ABC, number_of(EXECUTION["execveat"], machine) or 0
    code = (common_filter(machine), program_filter(Profile.NATIVE, machine, empty_path=secret))
    right = (3, secret, 7, 8, 0x1000)
    assert answer(code, ARCHITECTURES[machine], number, *right) == ALLOW
    for place, wrong in ((0, 4), (1, secret + 1), (1, secret ^ 1 << 40), (4, 0), (4, 0x1100)):
        assert answer(code, ARCHITECTURES[machine], number, *right[:place], wrong, *right[place + 1 :]) == REFUSED
    assert answer(code, ARCHITECTURES[machine], 0) == ALLOW


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_calls_that_are_refused_by_their_second_argument(machine: str) -> None:
    code = (common_filter(machine), program_filter(Profile.NATIVE, machine))
    for numbers, values in ARGUMENTS.values():
        number = number_of(numbers, machine) or 0
        assert [answer(code, ARCHITECTURES[machine], number, 3, value) for value in values] == [REFUSED] * len(values)
        assert answer(code, ARCHITECTURES[machine], number, values[0], 1) == ALLOW


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_what_holds_for_launcher_and_watchers_too(machine: str) -> None:
    code, architecture = (common_filter(machine),), ARCHITECTURES[machine]
    for name, numbers in DENIED.items():
        number = number_of(numbers, machine)
        assert number is not None
        assert answer(code, architecture, number) == (ALLOW if name in WATCHING else REFUSED)
    assert answer(code, architecture, number_of(EXECUTION["prlimit64"], machine) or 0, 1) == REFUSED
    assert answer(code, architecture, FIRST_UNKNOWN) == UNKNOWN


def test_a_filter_for_each_case_is_short() -> None:
    """The kernel runs a filter once for every call there is when it is installed, which is done for each case."""
    for profile in Profile:
        assert len(program_filter(profile, "x86_64")) // 8 < 40


@pytest.mark.parametrize("profile", [Profile.PYTHON, Profile.NATIVE])
def test_threads_can_be_refused(profile: Profile) -> None:
    code = program_filter(profile, "x86_64", threads=False)
    assert answer([code], ARCHITECTURES["x86_64"], 56, 0x003D0F00) == REFUSED


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_numbers_are_the_systems(machine: str) -> None:
    header = HEADERS[machine]
    if not header.is_file():
        assert platform.machine() in ARCHITECTURES
        return
    known = {
        name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", header.read_text())
    }
    for name, numbers in {**DENIED, **EXECUTION, **{name: each for name, (each, _) in ARGUMENTS.items()}}.items():
        number = number_of(numbers, machine)
        if number is not None and name in known:
            assert known[name] == number, name


def test_another_machine_is_refused() -> None:
    with pytest.raises(MissingPartError, match="riscv64"):
        program_filter(Profile.PYTHON, "riscv64")
    with pytest.raises(MissingPartError, match="riscv64"):
        common_filter("riscv64")

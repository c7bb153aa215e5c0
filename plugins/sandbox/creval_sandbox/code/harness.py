"""Run a program on its tests in the sandbox, and read the verdicts.

A program passes if its tests ran to their end. Exit code 0 is not enough, since it could exit before them, so the
harness confirms the end with a word that it reads after the tests. Tests run in the program's process, as in HumanEval
and MBPP: a program written to defeat this harness can pass, one that exits early or prints cannot.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from creval.plugin.programs import CaseResult, Limits, Program, ProgramLanguage, Sandbox, StopReason

__all__ = ["CodeVerdict", "TestResult", "run_tests"]

_SHOWN = 200


class CodeVerdict(StrEnum):
    """The verdict on a program for one test."""

    PASSED = "passed"
    WRONG = "wrong_answer"
    RAISED = "runtime_error"
    NOT_RUNNABLE = "not_runnable"
    EXITED = "exited_early"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT = "output_limit"
    TAMPERED = "tampered"
    TESTS = "faulty_tests"


@dataclass(frozen=True, slots=True)
class TestResult:
    """The verdict on one test, and the error message if there was one."""

    verdict: CodeVerdict
    error: str = ""


_STOPS = {
    StopReason.CPU: CodeVerdict.TIMEOUT,
    StopReason.WALL: CodeVerdict.TIMEOUT,
    StopReason.MEMORY: CodeVerdict.MEMORY,
    StopReason.OUTPUT: CodeVerdict.OUTPUT,
    StopReason.NOT_COMPILED: CodeVerdict.NOT_RUNNABLE,
    StopReason.TAMPERED: CodeVerdict.TAMPERED,
}

_PYTHON = """
import json, os, sys, types

def creval_harness():
    # what the program might replace is taken here, before it runs
    read, write, leave, run, compiled = os.read, os.write, os._exit, exec, compile
    base, kind_of, text, length = BaseException, type, str, len

    def take(count):
        parts = b""
        while length(parts) < count:
            part = read(source, count - length(parts))
            if not part:
                leave(3)
            parts += part
        return parts

    source, say = os.dup(0), os.dup(1)
    given = json.loads(take(int(take(12))))
    empty, out = os.pipe()
    os.close(out)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdin = open(0, closefd=False)
    module = types.ModuleType("creval_program")
    sys.modules["creval_program"] = module
    space, tests = module.__dict__, given["tests"]
    stage, error = b"program", None
    try:
        code = compiled(given["program"], "program.py", "exec")
        stage = b"running"
        run(code, space)
        stage = b"reading"
        code = compiled(tests, "tests.py", "exec")
        stage = b"tests"
        run(code, space)
        stage = b"passed"
    except base as caught:
        error = caught
    message = ""
    if error is not None:
        try:
            message = kind_of(error).__name__ + ": " + text(error)
        except base:
            message = kind_of(error).__name__
    write(say, b"\\n" + take(32) + stage + b"\\n" + message[:300].encode("utf-8", "replace") + b"\\n")
    leave(0)

creval_harness()
"""

_CPP = """
#define main creval_answer_main
{program}
#undef main
#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <type_traits>
#define main creval_unused; static auto creval_tests
{tests}
#undef main
template <class Tests> static int creval_code(Tests tests) {{
    if constexpr (std::is_void_v<decltype(tests())>) {{ tests(); return 0; }} else return static_cast<int>(tests());
}}
int main() {{
    int code = creval_code(creval_tests);
    char word[33];
    if (code == 0 && std::scanf("%32s", word) == 1) std::printf("\\n%s\\n", word);
    return code;
}}
"""


async def run_tests(
    sandbox: Sandbox, program: str, tests: Sequence[str], language: ProgramLanguage, limits: Limits
) -> Sequence[TestResult]:
    """Run a program on each test in a separate process; return one result per test, in order."""
    words = [secrets.token_hex(16) for _ in tests]
    if language is ProgramLanguage.CPP:
        found = [
            (await sandbox.run(Program(_CPP.format(program=program, tests=test), language), [word.encode()], limits))[0]
            for test, word in zip(tests, words, strict=True)
        ]
        return [_of_cpp(result, word) for result, word in zip(found, words, strict=True)]
    cases = [_case(program, test, word) for test, word in zip(tests, words, strict=True)]
    results = await sandbox.run(Program(_PYTHON), cases, limits)
    return [_of_python(result, word) for result, word in zip(results, words, strict=True)]


def _case(program: str, tests: str, word: str) -> bytes:
    body = json.dumps({"program": program, "tests": tests}).encode()
    return f"{len(body):012d}".encode() + body + word.encode()


def _of_python(result: CaseResult, word: str) -> TestResult:
    if result.stop is not None:
        return TestResult(_STOPS[result.stop])
    _, said, rest = result.stdout.rpartition(b"\n" + word.encode())
    stage, _, message = rest.decode("utf-8", "replace").partition("\n")
    error = " ".join(message.split())[:_SHOWN].rstrip(": ")
    kind = error.partition(":")[0]
    if not said or kind == "SystemExit":
        return TestResult(CodeVerdict.EXITED, "it ended before its tests did")
    if stage == "passed":
        return TestResult(CodeVerdict.PASSED)
    if stage == "program":
        return TestResult(CodeVerdict.NOT_RUNNABLE, error)
    if stage == "reading":
        return TestResult(CodeVerdict.TESTS, error)
    if kind == "MemoryError":
        return TestResult(CodeVerdict.MEMORY, error)
    wrong = stage == "tests" and kind == "AssertionError"
    return TestResult(CodeVerdict.WRONG if wrong else CodeVerdict.RAISED, error)


def _of_cpp(result: CaseResult, word: str) -> TestResult:
    said = result.stderr.decode("utf-8", "replace").strip().split("\n")[0][:_SHOWN]
    if result.stop is not None:
        return TestResult(_STOPS[result.stop], said if result.stop is StopReason.NOT_COMPILED else "")
    if result.exit_code == 0:
        if result.stdout.endswith(f"\n{word}\n".encode()):
            return TestResult(CodeVerdict.PASSED)
        return TestResult(CodeVerdict.EXITED, "it ended before its tests did")
    wrong = result.signal == 6 and b"Assertion" in result.stderr
    return TestResult(CodeVerdict.WRONG if wrong or result.exit_code else CodeVerdict.RAISED, said)

"""What programs may do, how their ends are distinguished, and that neither order nor company changes a verdict."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.plugin import MissingPartError, UsageError
from creval.plugin.programs import CaseResult, Limits, Program, ProgramLanguage, SandboxError, StopReason
from creval_sandbox import command
from creval_sandbox.bubblewrap import BubblewrapSandbox, open_bubblewrap
from creval_sandbox.command import Identity
from creval_sandbox.mounts import library_versions
from creval_sandbox.probe import find_manner
from creval_sandbox.refusals import fix_of
from creval_sandbox.worker import Manner

SHORT = Limits(cpu_seconds=0.5, wall_seconds=30.0)
SHORTEST = Limits(cpu_seconds=0.2, wall_seconds=1.0)


def run(box: BubblewrapSandbox, source: str, *cases: str, limits: Limits = SHORT) -> list[CaseResult]:
    return list(box.run_now(Program(source), [case.encode() for case in cases or ("",)], limits))


def test_each_case_is_one_run(sandbox: BubblewrapSandbox) -> None:
    results = run(sandbox, "print(int(input()) * 2)", "4", "five", "6")
    assert [result.stdout for result in results] == [b"8\n", b"", b"12\n"]
    assert [result.exit_code for result in results] == [0, 1, 0]
    assert results[1].stderr.rstrip().endswith(b"ValueError: invalid literal for int() with base 10: 'five'")
    assert all(result.stop is None and result.signal is None for result in results)
    assert all(0 < result.cpu_seconds < 0.5 and result.memory_bytes > 1 << 20 for result in results)


@pytest.mark.parametrize(
    ("source", "exit_code", "stdout"),
    [
        ("print(1); exit()", 0, b"1\n"),
        ("import sys; print(2); sys.exit(7)", 7, b"2\n"),
        ("raise SystemExit('bad')", 1, b""),
        ("import os; print(3); os._exit(0)", 0, b""),
        ("import sys; sys.stdout.write('4')", 0, b"4"),
        ("import atexit; atexit.register(print, 'last'); print('first')", 0, b"first\nlast\n"),
        ("if __name__ == '__main__':\n    print(__name__)", 0, b"__main__\n"),
        ("import sys; print(sys.stdin.read().upper())", 0, b"ABC\n"),
        ("open(0).read()\nprint(input() if False else 'all')", 0, b"all\n"),
        ("def f(n):\n    return n and f(n - 1)\nimport sys\nsys.setrecursionlimit(10**6)\nprint(f(10**5))", 0, b"0\n"),
        ("from collections import *; from math import *; print(Counter('aa'), gcd(4, 6))", 0, b"Counter({'a': 2}) 2\n"),
        ("print('é', chr(0x1F600))", 0, "é \U0001f600\n".encode()),
        ("with open('note', 'w') as f: f.write('x')\nprint(open('note').read())", 0, b"x\n"),
        ("print(__file__)", 1, b""),
        ("import sys; sys.excepthook = lambda *_: print('hook'); 1 / 0", 1, b"hook\n"),
        ("import sys; sys.excepthook = lambda *_: sys.exit(0); 1 / 0", 1, b""),
        ("this is no program", 1, b""),
        ("# -*- coding: latin-1 -*-\nprint(1)", 0, b"1\n"),
        ("import no_such_library", 1, b""),
        ("x = '\\ud800'\nprint(len(x))", 0, b"1\n"),
    ],
)
def test_programs_behave_as_under_an_interpreter_of_their_own(
    sandbox: BubblewrapSandbox, source: str, exit_code: int, stdout: bytes
) -> None:
    (result,) = run(sandbox, source, "abc")
    assert (result.exit_code, result.stdout, result.stop) == (exit_code, stdout, None)


@pytest.mark.parametrize(
    ("source", "stops"),
    [
        ("while True: pass", {StopReason.CPU, StopReason.WALL}),
        ("import time; time.sleep(60)", {StopReason.WALL}),
        ("input(); x = [0] * 10 ** 9", {StopReason.MEMORY}),
        ("print('x' * (1 << 25))", {StopReason.OUTPUT}),
        ("import sys; sys.stderr.write('x' * (1 << 25))", {StopReason.OUTPUT}),
    ],
)
def test_how_a_program_was_stopped(sandbox: BubblewrapSandbox, source: str, stops: set[StopReason]) -> None:
    ended_by_time = StopReason.WALL in stops
    (result,) = run(sandbox, source, "x", limits=SHORTEST if ended_by_time else SHORT)
    assert result.stop in stops
    assert not result.succeeded
    assert result.output_bytes <= 1 << 25


def test_an_error_is_reported_as_an_interpreter_reports_it(sandbox: BubblewrapSandbox) -> None:
    source = "def f(n):\n    return 1 // n\ntry:\n    f(0)\nexcept ValueError:\n    pass\n"
    (result,) = run(sandbox, source)
    assert result.stderr.decode().splitlines() == [
        "Traceback (most recent call last):",
        '  File "program.py", line 4, in <module>',
        '  File "program.py", line 2, in f',
        "ZeroDivisionError: integer division or modulo by zero",
    ]


def test_a_signal_is_reported(sandbox: BubblewrapSandbox) -> None:
    (result,) = run(sandbox, "import os, signal; os.kill(os.getpid(), signal.SIGTERM)")
    assert (result.exit_code, result.signal, result.stop) == (None, 15, None)


def test_hash_order_is_the_same_in_every_launcher(box: BubblewrapSandbox) -> None:
    program = "print(hash('word'), list({'a', 'b', 'c', 'd'}))"
    first = run(box, program)[0].stdout
    box._workers[0].end()
    assert run(box, program)[0].stdout == first


def test_chosen_libraries_can_be_imported_and_no_others(box: BubblewrapSandbox) -> None:
    assert set(library_versions()) == {"numpy", "sympy"}
    limits = Limits(cpu_seconds=20)
    (result,) = run(box, "import numpy, sympy; print(numpy.arange(3).sum(), sympy.factor('x**2-1'))", limits=limits)
    assert result.stdout == b"3 (x - 1)*(x + 1)\n"
    for name in ("creval", "yaml", "scipy", "pytest", "pip"):
        assert b"ModuleNotFoundError" in run(box, f"import {name}")[0].stderr
    assert all(f"{name} {version}" in box.name for name, version in library_versions().items())


def test_threads_where_the_kernel_bounds_them(sandbox: BubblewrapSandbox) -> None:
    program = "import threading\nt = threading.Thread(target=print, args=(5,))\nt.start()\nt.join()"
    (result,) = run(sandbox, program)
    assert result.stdout == (b"5\n" if sandbox._manner.threads else b"")
    assert ("no threads" in sandbox.name) != sandbox._manner.threads


def test_compiled_programs_and_their_cache(sandbox: BubblewrapSandbox) -> None:
    source = '#include <cstdio>\nint main() { int a, b; std::scanf("%d %d", &a, &b); std::printf("%d", a + b); }'
    program = Program(source, ProgramLanguage.CPP)
    results = sandbox.run_now(program, [b"1 2", b"40 2"], SHORT)
    assert [result.stdout for result in results] == [b"3", b"42"]
    folder = sandbox._compiler._folder
    kept = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert sandbox.run_now(program, [b"5 6"], SHORT)[0].stdout == b"11"
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == kept
    other = Program(source, ProgramLanguage.CPP, ("-O0",))
    assert sandbox.run_now(other, [b"5 6"], SHORT)[0].stdout == b"11"
    assert len(list(folder.iterdir())) == len(kept) + 1


@pytest.mark.parametrize(
    ("header", "body", "ends"),
    [
        ("cstdio", "while (true) {}", {StopReason.CPU, StopReason.WALL}),
        ("vector", "std::vector<char> x(std::size_t(1) << 40, 1);", {StopReason.MEMORY}),
        ("cstdio", 'while (true) std::puts("a line");', {StopReason.OUTPUT}),
        ("cstdio", "volatile int* p = nullptr; *p = 1;", {11}),
        ("cstdio", "return 3;", {3}),
    ],
)
def test_how_a_compiled_program_was_stopped(
    sandbox: BubblewrapSandbox, header: str, body: str, ends: set[object]
) -> None:
    """With the one header that each needs: the whole library, met below, takes ten times as long to compile."""
    program = Program(f"#include <{header}>\nint main() {{ {body} }}", ProgramLanguage.CPP)
    (result,) = sandbox.run_now(program, [b""], SHORTEST if StopReason.WALL in ends else SHORT)
    assert (result.stop or result.signal or result.exit_code) in ends


def test_the_whole_library_of_the_compiler_is_at_hand(box: BubblewrapSandbox) -> None:
    source = "#include <bits/stdc++.h>\nint main() { std::map<int, int> m{{1, 2}}; std::cout << m[1]; }"
    assert box.run_now(Program(source, ProgramLanguage.CPP), [b""], SHORT)[0].stdout == b"2"


ENDS = ["print(input())", "print(1 / 0)", "exit(3)", "while True: pass", "open('/tmp/x', 'w').write('y')"]
SELECTING = "n = int(input())\n" + "\n".join(
    f"if n == {i}:\n    {line.replace('input()', 'n')}" for i, line in enumerate(ENDS)
)


@settings(max_examples=6)
@given(order=st.permutations([0, 0, 1, 2, 3, 4, 4]))
def test_the_order_of_cases_changes_no_verdict(box: BubblewrapSandbox, order: list[int]) -> None:
    limits = Limits(cpu_seconds=0.2, wall_seconds=20.0)
    results = run(box, SELECTING, *map(str, order), limits=limits)
    expected = {
        0: (b"0\n", 0, None),
        1: (b"", 1, None),
        2: (b"", 3, None),
        3: (b"", None, StopReason.CPU),
        4: (b"", 0, None),
    }
    assert [(r.stdout, r.exit_code, r.stop) for r in results] == [expected[case] for case in order]


def test_many_programs_at_once(tmp_path: Path) -> None:
    box = BubblewrapSandbox(find_manner(), tmp_path, workers=2)

    async def all_of_them() -> list[bytes]:
        programs = [Program(f"print({i} + int(input()))") for i in range(20)]
        results = await asyncio.gather(*(box.run(program, [b"1", b"2"], SHORT) for program in programs))
        return [b"".join(case.stdout for case in cases) for cases in results]

    assert asyncio.run(all_of_them()) == [f"{i + 1}\n{i + 2}\n".encode() for i in range(20)]
    box.close()


def test_whatever_descriptors_are_free_outside(tmp_path: Path) -> None:
    """A launcher is told the number of its channel, which may be the very one at which it wants to have it."""
    script = (
        "import os, sys\nfrom pathlib import Path\n"
        "from creval_sandbox.bubblewrap import BubblewrapSandbox, Program\n"
        "from creval_sandbox.probe import find_manner\n"
        "manner = find_manner()\n"
        "for _ in range(8):\n"
        "    box = BubblewrapSandbox(manner, Path(sys.argv[1]), workers=1)\n"
        "    print(box.run_now(Program('print(5)'), [b''])[0].stdout)\n"
        "    box.close()\n"
        "    os.open('/dev/null', os.O_RDONLY)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.stdout.splitlines(), done.stderr) == (["b'5\\n'"] * 8, "")


def test_a_machine_that_refuses(tmp_path: Path) -> None:
    """Bubblewrap that cannot run is our own error, before any instruction, and quotes bubblewrap."""
    box = BubblewrapSandbox(Manner(Identity(), nested=False), tmp_path, workers=1)
    box._workers[0]._mounts = [*box._workers[0]._mounts, command.Mount("/x", Path("/no/such/folder"))]
    with pytest.raises(SandboxError, match="Can't find source path"):
        box.run_now(Program("print(1)"), [b""])
    box.close()


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ("bwrap: setting up uid map: Permission denied", "apparmor"),
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "network namespaces"),
        ("bwrap: setting up uid map: Read-only file system", "systempaths=unconfined"),
        ("bwrap: No permissions to create new namespace", "unprivileged_userns_clone"),
        ("bwrap: Unknown option --size", "0.8.0 or later"),
        ("something new", "creval sandbox check"),
    ],
)
def test_each_refusal_has_a_fix(words: str, fix: str) -> None:
    assert fix in fix_of(words)


def test_without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    command.bubblewrap_path.cache_clear()
    find_manner.cache_clear()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MissingPartError, match="apt-get install bubblewrap"):
        find_manner()
    monkeypatch.undo()
    command.bubblewrap_path.cache_clear()
    find_manner.cache_clear()


def test_an_unknown_mode(tmp_path: Path) -> None:
    class Options:
        folder = tmp_path

    with pytest.raises(UsageError, match="no mode 'docker'"):
        open_bubblewrap("docker", Options())

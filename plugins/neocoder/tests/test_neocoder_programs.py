"""Programs: found in answers, judged, and the released evaluator's counts on the authors' own GPT-4 codes."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given as forall
from hypothesis import strategies as st

from creval.plugin.programs import CaseResult, Limits, Program, StopReason
from creval_neocoder.problem import Case, Problem
from creval_neocoder.programs.extraction import find_program, is_python
from creval_neocoder.programs.feeding import Run, runs
from creval_neocoder.programs.released import accepted, given, harness, parse_released
from creval_neocoder.programs.verdicts import Verdict, verdict, worst
from creval_neocoder.task.docs import state_doc
from creval_neocoder.task.tests import Judge
from creval_neocoder.techniques.creativity import follows
from creval_neocoder.techniques.syntax import techniques_of
from creval_sandbox.bubblewrap import BubblewrapSandbox
from creval_sandbox.code import python_programs

COMMIT = "23cd8e64dc2129e5c4fae4bcb5dff8cec41f9d4f"
SHORT = Limits(cpu_seconds=0.1)  # none of the codes that are accepted takes a hundredth of a second


def in_state(problems: list[Problem], state: int) -> list[Problem]:
    return [problem for problem in problems if len(problem.constraints) > state]


def released(box: BubblewrapSandbox, problem: Problem, state: int) -> bool:
    code = parse_released(problem.codes[state])
    return code is not None and accepted(box.run_now(harness(), [given(code, problem.cases)], SHORT)[0], problem.cases)


def whole(box: BubblewrapSandbox, problem: Problem, state: int) -> Verdict:
    program = find_program(problem.codes[state])
    if program is None:
        return Verdict.NOT_RUNNABLE
    asked = runs(problem.cases, problem.counted)
    results = box.run_now(Program(program), [run.stdin for run in asked], SHORT)
    return worst([verdict(result, run) for result, run in zip(results, asked, strict=True)])


@pytest.mark.parametrize(("state", "count"), list(enumerate([32, 23, 14, 10, 4, 2])))
def test_the_released_evaluator_gives_the_papers_pass_at_1(
    sandbox: BubblewrapSandbox, problems: list[Problem], state: int, count: int, parity: Any
) -> None:
    """Table 3's whole row: 16.1, 11.6, 7.1, 5.2, 2.3 and 2.1 %, over 199, 199, 198, 194, 176 and 97 problems."""
    chosen = in_state(problems, state)
    with ThreadPoolExecutor(4) as pool:
        found = sum(pool.map(lambda problem: released(sandbox, problem, state), chosen))
    assert found == count
    printed = [16.1, 11.6, 7.1, 5.2, 2.3, 2.1][state]
    ours = 100 * (1 - (len(chosen) - found) / len(chosen))
    assert round(ours, 1) == printed
    against = (
        "Table 3's pass@1 in %, by the authors' rules on the GPT-4 programs that they published, "
        "github.com/JHU-CLSP/NeoCoder"
    )
    about = {"against": against, "commit": COMMIT}
    parity.add(f"neocoder_released_state{state}", about, [(ours, printed)], 0.05, answers=len(chosen))


@pytest.mark.parametrize(("state", "count"), list(enumerate([46, 38, 33, 29, 25, 11])))
def test_the_same_codes_by_their_whole_output(
    sandbox: BubblewrapSandbox, problems: list[Problem], state: int, count: int
) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda problem: whole(sandbox, problem, state), in_state(problems, state)))
    assert found.count(Verdict.ACCEPTED) == count


def test_programs_of_people_pass(sandbox: BubblewrapSandbox, problems: list[Problem], parity: Any) -> None:
    """Codeforces accepted them all; some published cases are faulty (docs/neocoder.md). A sample of 50 problems."""
    programs = [
        (problem, source)
        for problem in problems[:: 1 if parity.wanted else 4]
        for source in [text for text in problem.solutions if is_python(text)][: None if parity.wanted else 1]
    ]
    assert len(programs) == 4725 or not parity.wanted

    def passes(program: tuple[Problem, str]) -> float:
        problem, source = program
        asked = runs(problem.cases, problem.counted)
        results = sandbox.run_now(Program(source), [run.stdin for run in asked], Limits(cpu_seconds=10))
        return float(worst([verdict(*each) for each in zip(results, asked, strict=True)]) is Verdict.ACCEPTED)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(passes, programs))
    assert sum(found) / len(found) > 0.6
    against = (
        "Codeforces, which accepted every human program in Python that the authors published, "
        "github.com/JHU-CLSP/NeoCoder; the published cases are faulty or too narrow for the others"
    )
    parity.add(
        "neocoder_state0", {"against": against, "commit": COMMIT}, [(each, 1.0) for each in found], 0, whole=False
    )


def test_a_human_program_is_judged_as_it_is_written(problems: list[Problem]) -> None:
    """Of 4,725 human programs in Python one alone is not run as written: it defines a solve() that it never uses."""
    sources = [source for problem in problems for source in problem.solutions if is_python(source)]
    found = [(find_program(f"```python\n{source}\n```") or "").strip() == source.strip() for source in sources]
    assert (len(found), found.count(False)) == (4725, 1)


def fits(names: Sequence[str], problem: Problem, state: int) -> bool:
    return len(problem.constraints) > state and follows(names, problem.constraints[state])


def test_the_human_programs_of_all_states(sandbox: BubblewrapSandbox, problems: list[Problem]) -> None:
    """pass@1 .762626 (151 of 198) at state 0.

    A problem's program in a state is the first human one in Python that follows its constraints and passes the
    statement's own sample, letter case as the statement has it: there is one for 167 problems at state 0. The published
    cases, which compare letter case and are faulty for some problems, then accept 151. The first program of each
    problem by itself gives 144.
    """
    by_sample, published = Judge(sandbox, "sample"), Judge(sandbox)
    known: dict[tuple[str, str], bool] = {}

    docs = {problem.name: state_doc(problem, 0) for problem in problems}

    def passes(judge: Judge, problem: Problem, source: str) -> bool:
        program = find_program(f"```python\n{source}\n```")
        if program is None:
            return False
        return asyncio.run(judge.verdict(program, source, docs[problem.name])) is Verdict.ACCEPTED

    def right(problem: Problem, source: str) -> bool:
        key = problem.name, source
        if key not in known:
            known[key] = passes(by_sample, problem, source)
        return known[key]

    def of(problem: Problem) -> list[bool | None]:
        pairs = zip(problem.solutions, problem.techniques, strict=True)
        python = [(source, names) for source, names in pairs if is_python(source)]
        chosen = [
            next((source for source, names in python if fits(names, problem, state) and right(problem, source)), None)
            for state in range(6)
        ]
        verdicts = {source: passes(published, problem, source) for source in set(chosen) - {None} if source}
        return [None if source is None else verdicts[source] for source in chosen]

    solved = [problem for problem in problems if problem.solutions]
    with ThreadPoolExecutor(4) as pool:
        found = list(zip(*pool.map(of, solved), strict=True))
    assert [sum(each is not None for each in state) for state in found] == [167, 118, 72, 34, 16, 8]
    assert [state.count(True) for state in found] == [151, 107, 66, 31, 15, 7]
    assert round(found[0].count(True) / len(solved), 6) == 0.762626


def test_figure_3(sandbox: BubblewrapSandbox, problems: list[Problem]) -> None:
    """1829B: the code of state 0 is accepted although the tests that GPT-4 wrote below it raise; that of 1 is wrong."""
    problem = next(each for each in problems if each.name == "1829B")
    assert whole(sandbox, problem, 0) is Verdict.ACCEPTED
    assert whole(sandbox, problem, 1) is not Verdict.ACCEPTED


SOLVE = "def solve():\n    print(input())"


@pytest.mark.parametrize(
    ("text", "kept", "dropped"),
    [
        (SOLVE, ["solve()"], []),
        (f"Here is it:\n```python\n{SOLVE}\n```\nIt reads a line.", ["def solve", "\nsolve()"], ["Here", "reads"]),
        (f"```\n{SOLVE}\n", ["\nsolve()"], ["```"]),
        (
            f"```python\nprint(1)\n```\n```python\n{SOLVE}\n```\n```\nsample output\n```",
            ["print(input())"],
            ["print(1)"],
        ),
        (f"~~~py\n{SOLVE}\n~~~", ["def solve"], ["~"]),
        (f"Of course.\nimport sys\n{SOLVE}", ["import sys"], ["Of course"]),
        (f"N = 5\n{SOLVE}\nM = solve('1')\ndef helper():\n    return 1", ["N = 5", "helper"], ["M ="]),
        (f"{SOLVE}\n\ndef test_solve(:\n    broken", ["def solve"], ["test_solve"]),
        ("```python\nfor i in range(3):\n    print(i)\n```", ["range(3)"], ["solve"]),
        ("  def solve():\n      print(1)", ["def solve"], []),
    ],
)
def test_what_of_an_answer_is_the_program(text: str, kept: list[str], dropped: list[str]) -> None:
    program = find_program(text)
    assert program is not None
    ast.parse(program)
    assert all(part in program for part in kept)
    assert not any(part in program for part in dropped)
    assert program.count("\nsolve()") <= 1


@pytest.mark.parametrize(
    "after",
    [
        "solve()",
        "if __name__ == '__main__':\n    solve()",
        "def main():\n    solve()\nmain()",
        "def main():\n    solve()\nif __name__ == '__main__':\n    main()",
        "import threading\nt = threading.Thread(target=solve)\nt.start()\nt.join()",
        "import threading\ndef main():\n    solve()\nthreading.Thread(target=main).start()",
        "for _ in range(int(input())):\n    solve()",
        "main = solve\nmain()",
        "class Runner:\n    def run(self):\n        solve()\nRunner().run()",
        "class Runner:\n    def __init__(self):\n        solve()\nRunner()",
        "class Runner:\n    def __call__(self):\n        solve()\nRunner()()",
        "class Runner:\n    __exit__ = print\n    def __enter__(self):\n        solve()\nwith Runner():\n    pass",
        "if __name__ in ('__main__',):\n    solve()",
        "import asyncio\nasync def main():\n    solve()\nasyncio.run(main())",
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n    pool.submit(solve)",
        "import sys\nsys.exit(solve())",
        "raise SystemExit(solve())",
        "t = int(input())\nwhile t:\n    t -= 1\n    solve()",
        "[solve() for _ in range(int(input()))]",
        "answer = solve()\nprint(answer)",
        "print(*solve())",
        "print(solve(*map(int, input().split())))",
        "def run(f):\n    f()\nrun(solve)",
        "import functools\nfunctools.partial(solve)()",
        "try:\n    while True:\n        solve()\nexcept EOFError:\n    pass",
        "def first():\n    solve()\ndef second():\n    first()\nsecond()",
        "x: int = solve()",
        "yes = 'YES' if solve() else 'NO'\nprint(yes)",
        "match 1:\n    case _:\n        solve()",
        "import atexit\natexit.register(solve)",
        "main = lambda: solve()\nmain()",
        "solve.cache = {}\nsolve()",
        "try:\n    solve()\nexcept EOFError:\n    pass",
        "print(solve(input()))",
        "(lambda: solve())()",
        "with open(0) as lines:\n    solve()",
        "solve()\nsolve('an example')",
        "list(map(solve, range(1)))",
        "def solve(n):\n    return n\nfor _ in range(int(input())):\n    print(n)",
    ],
)
def test_a_program_that_reaches_solve_is_run_as_it_is_written(after: str) -> None:
    source = f"# a remark\ntable = []\ntable.append(7)\n{SOLVE}\n{after}\n"
    assert find_program(f"```python\n{source}```") == source


@pytest.mark.parametrize(
    ("after", "kept"),
    [
        ("", ""),
        ("N = 5", "N = 5\n"),
        ("N, M = 1, 2", "N, M = 1, 2\n"),
        ("N += 1", "N += 1\n"),
        ("solve.cache = {}", ""),
        ("class Helper:\n    pass", "class Helper:\n    pass\n"),
        ("class N:\n    def __init__(self):\n        solve()", "class N:\n    def __init__(self):\n        solve()\n"),
        ("from math import *", "from math import *\n"),
        ("async def other():\n    pass", "async def other():\n    pass\n"),
        ("solve(3)", ""),
        ("print(f\"{solve('1 2')}\")", ""),
        ("assert solve('3') == 4, 'no'", ""),
        ("import builtins\nsetattr(builtins, 'input', lambda: '1')\nsolve()", "import builtins\n"),
        ("import sys\nsys.stdin = open('in.txt')\nsolve()", "import sys\n"),
        ("del solve", ""),
        ("solve = None", ""),
        ("'a text'", ""),
        ("@helper\ndef other():\n    return 1", "@helper\ndef other():\n    return 1\n"),
        ("from math import isqrt; x: int = 1", "from math import isqrt\nx: int = 1\n"),
        ("print(solve('3 4'))", ""),
        ("print(solve(n=3, k=[-1, (2, 3)]))", ""),
        ("def test():\n    assert solve('1') == 2\ntest()", "def test():\n    assert solve('1') == 2\n"),
        ("import io, sys\nsys.stdin = io.StringIO('1')\nsolve()", "import io, sys\n"),
        ("input = lambda: '1'\nsolve()", ""),
        ("import builtins\nbuiltins.input = lambda: '1'\nsolve()", "import builtins\n"),
        ("def input():\n    return '1'\nsolve()", ""),
        (
            "from unittest.mock import patch\nwith patch('builtins.input', return_value='1'):\n    solve()",
            "from unittest.mock import patch\n",
        ),
        ("assert solve() is None", ""),
        ("case.assertEqual(solve(), 3)", ""),
        ("x = solve('1')", ""),
        ("if __name__ == '__main__':\n    print(solve('1 2'))", ""),
        ("def never():\n    solve()", "def never():\n    solve()\n"),
        ("while True:\n    break", ""),
    ],
)
def test_of_other_programs_what_follows_solve_is_kept_as_far_as_it_defines(after: str, kept: str) -> None:
    before = f"try:\n    from math import isqrt\nexcept OSError:\n    pass\nfor i in range(3):  # i\n    pass\n{SOLVE}"
    assert find_program(f"```python\n{before}\n{after}\n```") == f"{before}\n{kept}solve()\n"


@pytest.mark.parametrize(
    "deep",
    [
        "+".join("1" * 400),
        "not " * 900 + "1",
        "lambda: " * 500 + "1",
        "[" * 90 + "]" * 90,
        "x" + ".y" * 900,
        "-" * 3000 + "1",
        "(" * 150 + "1" + ")" * 150,
        "x" + "()" * 1000,
        "<".join("1" * 3000),
        " and ".join("1" * 3000),
        "1 if 1 else " * 500 + "1",
        "**".join("1" * 800),
        "{1:" * 90 + "1" + "}" * 90,
        "(a:=" * 90 + "1" + ")" * 90,
        "'a' " * 3000,
        "1" * 5000,
        "[[" * 2000,
        "1\n" + "".join("    " * i + "if 1:\n" for i in range(95)) + "    " * 95 + "pass",
        "1\nif 1:\n    pass\n" + "elif 2:\n    pass\n" * 2000,
        "1\n" + "@a\n" * 3000 + "def f(): pass",
        "'\ud800'",
        "1; " * 5000,
    ],
)
def test_no_program_is_too_deep_to_be_read(deep: str) -> None:
    program = find_program(f"{SOLVE}\nx = {deep}")
    assert program is not None and program.startswith(SOLVE)
    techniques_of(program)


@forall(st.text(st.sampled_from("def solve():\n\t input=;[](){}'\"#@:.,lambda0123\u2028\x0c"), max_size=120))
def test_no_text_makes_the_reader_raise(text: str) -> None:
    program = find_program(f"{SOLVE}\n{text}")
    assert program is not None and SOLVE in program.replace("\x0c", "")


@pytest.mark.parametrize(
    "text", ["", "I cannot help.", "Yes", "42", "```\n```", "```python\nthis is no code\n```", "x < y"]
)
def test_answers_without_a_program(text: str) -> None:
    assert find_program(text) is None


@forall(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text: str) -> None:
    program = find_program(text)
    if program is not None:
        ast.parse(program)


@pytest.mark.parametrize(
    ("first", "line"), [("", "@a\n"), ("try:\n", "    a = 1\n"), ("", "a = \\\n")], ids=["decorators", "try", "joined"]
)
def test_what_is_cut_at_length_is_read_in_proportion_to_it(
    first: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest, read = first + line * 2000, list[int]()
    tree = python_programs._tree

    def counted(source: str) -> ast.Module:
        read.append(len(source))
        return tree(source)

    monkeypatch.setattr(python_programs, "_tree", counted)
    program = find_program(f"{SOLVE}\n{rest}")
    assert program is not None and "def solve" in program
    assert sum(read) < 100 * len(rest)  # line by line it would be a thousand times


def test_feeding() -> None:
    cases = [Case(("1 2",), "3"), Case(("4", "5"), ("9", "0"))]
    assert runs(cases, counted=True) == [Run(b"2\n1 2\n4\n5\n", ("3", "9", "0"))]
    assert runs(cases, counted=False) == [Run(b"1 2\n", ("3",)), Run(b"4\n5\n", ("9", "0"))]
    assert runs([], counted=True) == []


def result(**changes: object) -> CaseResult:
    plain = {"exit_code": 0, "signal": None, "stdout": b"Yes 1", "stderr": b"", "stop": None}
    measured = {"cpu_seconds": 0.1, "wall_seconds": 0.1, "memory_bytes": 1}
    return CaseResult(**{**plain, **measured, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Verdict.ACCEPTED),
        ({"stdout": b"Yes\n1\n"}, Verdict.ACCEPTED),
        ({"stdout": b"Yes"}, Verdict.WRONG_ANSWER),
        ({"stdout": b"Yes 1 2"}, Verdict.WRONG_ANSWER),
        ({"stdout": b"YES 1"}, Verdict.WRONG_ANSWER),
        ({"exit_code": 1}, Verdict.RUNTIME_ERROR),
        ({"exit_code": None, "signal": 11}, Verdict.RUNTIME_ERROR),
        ({"exit_code": 1, "stderr": b"x\nModuleNotFoundError: No module named 'pandas'\n"}, Verdict.MISSING_LIBRARY),
        ({"stop": StopReason.CPU}, Verdict.TIMEOUT),
        ({"stop": StopReason.WALL}, Verdict.TIMEOUT),
        ({"stop": StopReason.MEMORY}, Verdict.MEMORY),
        ({"stop": StopReason.OUTPUT}, Verdict.OUTPUT_LIMIT),
        ({"stop": StopReason.TAMPERED}, Verdict.TAMPERED),
        ({"stop": StopReason.NOT_COMPILED}, Verdict.NOT_RUNNABLE),
    ],
)
def test_verdicts(changes: dict[str, object], expected: Verdict) -> None:
    assert verdict(result(**changes), Run(b"", ("Yes", "1"))) is expected


TWO = [Case(("1",), "1"), Case(("2",), ("2", "3"))]


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.write(1, b'junk\\n')\ndef solve():\n    print(input())",
        "import os\nos.write(1, b'null\\n')\ndef solve():\n    print(input())",
        "import os\nos.write(1, b'5\\n')\ndef solve():\n    print(input())",
        "import os\nos.write(1, b'[' * 100000 + b'\\n')\ndef solve():\n    print(input())",
        "import os\ndef solve():\n    os._exit(0)",
        "import os\nos._exit(0)",
        "import os\ndef solve():\n    input() == '2' or os._exit(0)\n    1 / 0",
        "def solve():\n    input()\n    print(input())\n    print('(' * 100000)",
    ],
)
def test_a_program_that_disturbs_the_released_evaluator_is_wrong(sandbox: BubblewrapSandbox, code: str) -> None:
    (found,) = sandbox.run_now(harness(), [given(code, TWO)], SHORT)
    assert found.succeeded
    assert accepted(found, TWO) is False


def test_letter_case_and_several_runs() -> None:
    assert verdict(result(stdout=b"YES 1"), Run(b"", ("Yes", "1")), any_case=True) is Verdict.ACCEPTED
    assert worst([Verdict.ACCEPTED, Verdict.TIMEOUT, Verdict.WRONG_ANSWER]) is Verdict.TIMEOUT
    assert worst([]) is Verdict.NOT_RUNNABLE

"""Tasks whose answers are programs: what is read, put together and run, and that no answer passes by ending early."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.cli.root import cli
from creval.plugin import Parsed, SampleKey, Score, ScorerInput
from creval.plugin.programs import ProgramLanguage
from creval.types.sample import Condition
from creval_sandbox.bubblewrap import BubblewrapSandbox
from creval_sandbox.code.assembly import assemble, future_first
from creval_sandbox.code.code_scorer import Code
from creval_sandbox.code.program_parser import ProgramParser
from creval_testing.scripted_models import RunTask

PYTHON, CPP = ProgramLanguage.PYTHON, ProgramLanguage.CPP
HEADER = 'import math\n\n\ndef area(radius):\n    """The area of a circle."""\n'
DOC = {
    "prompt": HEADER,
    "entry_point": "area",
    "test": "def check(candidate):\n    assert round(candidate(1), 2) == 3.14\n    assert candidate(0) == 0\n",
}
RIGHT = "def area(radius):\n    return math.pi * radius ** 2\n"


def scored(box: BubblewrapSandbox, answers: str | list[str], doc: Any = DOC, **parameters: Any) -> Score:
    """Score a sample of these programs."""
    values = [answers] if isinstance(answers, str) else answers
    key = SampleKey("t", "d", "default", 0)
    item = ScorerInput(key, doc, Condition("default"), values, values, {}, [Parsed(value) for value in values])
    given = {"entry_point": "entry_point", "header": "prompt", "seconds": 1.0, **parameters}
    scorer = Code(**{name: value for name, value in given.items() if value is not None})
    context: Any = SimpleNamespace(resource=lambda _: box)
    (score,) = asyncio.run(scorer.score([item], context))
    return score


def verdict(score: Score) -> str:
    assert score.details is not None
    return str(score.details["code"][0]["verdict"])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (RIGHT, "passed"),
        ("    return math.pi * radius ** 2\n", "passed"),
        ("return math.pi * radius ** 2", "passed"),
        ("    return math.pi * radius ** 2\n\nThat is all.", "passed"),
        ("from __future__ import annotations\n" + RIGHT, "passed"),
        (RIGHT + "\nif __name__ == '__main__':\n    print(area(float(input())))\n", "passed"),
        ("area = lambda radius: math.pi * radius ** 2", "passed"),
        (RIGHT.replace("2\n", "3 + 1\n"), "wrong_answer"),
        ("def area(radius):\n    return radius.area", "runtime_error"),
        ("def area(radius:\n    return 1", "not_runnable"),
        ("def volume(radius):\n    return 1\n\nvolume(", "runtime_error"),
        ("if radius:\n    return math.pi * radius ** 2\nreturn 0", "passed"),
        ("if radius:\n        return math.pi * radius ** 2\n    return 0", "passed"),
        ("def area(radius):\n    while True:\n        pass", "timeout"),
        ("def area(radius):\n    return [0] * 10 ** 10", "memory"),
        ("import nosuchmodule\n" + RIGHT, "runtime_error"),
    ],
)
def test_what_comes_of_an_answer(box: BubblewrapSandbox, answer: str, expected: str) -> None:
    score = scored(box, answer)
    assert verdict(score) == expected
    assert score.scores["code"] == float(expected == "passed")


@pytest.mark.parametrize(
    "answer",
    [
        "raise SystemExit(0)",
        "import os\nos._exit(0)",
        "import sys\nsys.exit()",
        "def area(radius):\n    raise SystemExit(0)",
        "def area(radius):\n    import os\n    os._exit(0)",
        "print('passed')\nraise SystemExit(0)",
        "import builtins\nbuiltins.exec = builtins.compile = lambda *_: None",
        "import os\nos.write = lambda *_: 0\nos._exit = lambda *_: None",
        "import json\njson.dumps = lambda *_: 'passed'",
        "import atexit, os\natexit.register(os._exit, 0)\nraise ValueError",
        "import sys\nsys.settrace(lambda *_: sys.exit(0))",
        "def check(candidate):\n    pass\nraise ValueError",
        "__builtins__ = {}\narea = None",
        "import sys\nsys.stdout.close()\nsys.stderr.close()\narea = 1",
        "import os\nos.closerange(0, 64)\narea = 1",
        "class E(Exception):\n    def __str__(self):\n        raise SystemExit(0)\nraise E",
    ],
)
def test_no_answer_passes_without_its_tests(box: BubblewrapSandbox, answer: str) -> None:
    score = scored(box, answer, DOC | {"prompt": ""}, header=None)
    assert score.scores == {"code": 0.0, "tests_passed": 0.0}
    assert score.failure is None


@pytest.mark.parametrize(
    "program",
    [
        "from dataclasses import dataclass\n@dataclass(slots=True)\nclass A:\n    x: 'int' = 1\nf = lambda: A().x",
        "from __future__ import annotations\nfrom typing import NamedTuple\nclass B(NamedTuple):\n    a: int\n"
        "def f():\n    return B(1).a",
        "import pickle\nclass C:\n    x = 1\ndef f():\n    return pickle.loads(pickle.dumps(C())).x",
        "import sys\nsys.setrecursionlimit(10**6)\ndef g(n):\n    return n and 1 + g(n - 1)\ndef f():\n"
        "    return g(20000) // 20000",
        "import sys\ndef f():\n    print('x' * 100000)\n    return len(sys.stdin.read()) + 1",
    ],
)
def test_ordinary_programs_run_as_they_are(box: BubblewrapSandbox, program: str) -> None:
    doc = {"test": "assert f() == 1"}
    assert verdict(scored(box, program, doc, header=None, entry_point=None)) == "passed"


def test_each_test_of_a_list_is_a_process_of_its_own(box: BubblewrapSandbox) -> None:
    doc = {"test_list": ["assert count() == 1", "assert count() == 1", "assert count() == 3"], "setup": "seen = []"}
    program = "def count():\n    seen.append(0)\n    return len(seen)"
    score = scored(box, program, doc, tests="test_list", setup="setup", entry_point=None, header=None)
    assert score.scores == {"code": 0.0, "tests_passed": pytest.approx(2 / 3)}
    assert score.details is not None
    assert score.details["code"][0] == {"verdict": "wrong_answer", "tests": 3, "passed": 2, "error": "AssertionError"}


def test_several_answers_to_one_call(box: BubblewrapSandbox) -> None:
    assert scored(box, [RIGHT, "pass"]).scores["code"] == 0.5
    assert scored(box, [RIGHT, "pass"], reduce="best").scores["code"] == 1.0


CPP_DOC = {
    "prompt": "#include <string>\n\n// Twice the text.\nstd::string twice(const std::string &text) {\n",
    "test": '#include <assert.h>\nint main() {\n    assert(twice("ab") == "abab");\n}\n',
}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("    return text + text;\n}\n", "passed"),
        (
            "std::string twice(const std::string &text) {\n    return text + text;\n}\nint main() { return 3; }",
            "passed",
        ),
        ("    return text;\n}\n", "wrong_answer"),
        ("    return text\n}\n", "not_runnable"),
        ("#include <cstdlib>\nstd::string twice(const std::string &t) { std::exit(0); }", "exited_early"),
        ("    return text;\n}\n#define NDEBUG\n#include <cassert>\n", "wrong_answer"),
        ("    return text;\n}\n#undef assert\n#define assert(x)\n// \ud800", "wrong_answer"),
        ("    return text;\n}\nstatic int early = (std::exit(0), 0);\n", "exited_early"),
    ],
)
def test_programs_in_cpp(box: BubblewrapSandbox, answer: str, expected: str) -> None:
    doc = CPP_DOC | {"prompt": "#include <cstdlib>\n" + CPP_DOC["prompt"]}
    score = scored(box, answer, doc, language="c++", entry_point=None)
    assert verdict(score) == expected


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("Here:\n```python\nx = 1\n```\n", "x = 1"),
        ("```python\ndef f():\n    pass\n```\nUse it:\n```python\nprint(f())\n```", "def f():\n    pass"),
        ("Sure.\n\ndef f():\n    return 1\n\nI hope it helps!", "def f():\n    return 1\n"),
        ("    return 1\n", "    return 1\n"),
        ("```\n    return 1\n```", "    return 1\n"),
        ("```python\ndef f(:\n```", "def f(:\n"),
    ],
)
def test_programs_are_found(text: str, program: str) -> None:
    assert ProgramParser().parse(text).value == program


def test_prose_holds_no_program() -> None:
    assert not ProgramParser().parse("I would rather not.").ok
    assert ProgramParser(form="completion").parse("```x").value == "```x"


def test_a_header_that_is_no_python_by_itself_keeps_its_imports() -> None:
    whole = assemble("import math\ndef f(x):\n", "def f(x):\n    return 1", PYTHON)
    assert whole == "import math\n\n\ndef f(x):\n    return 1"
    assert assemble("import math", "y = 1", PYTHON) == "import math\ny = 1"
    assert future_first("import os\nfrom __future__ import annotations\nx = 1").startswith("from __future__")


@settings(max_examples=60)
@given(st.text(max_size=200), st.sampled_from(["", HEADER, "int f(int x) {\n"]), st.sampled_from([PYTHON, CPP]))
def test_any_text_is_read_and_put_together(text: str, header: str, language: ProgramLanguage) -> None:
    parsed = ProgramParser(language.value).parse(text)
    assert parsed.ok or parsed.reason
    assert isinstance(future_first(assemble(header, text, language)), str)


@pytest.mark.parametrize(
    ("doc", "fault"),
    [
        ({}, "no text in the field 'entry_point'"),
        ({"entry_point": "f", "prompt": "x"}, "it has no tests in the field 'test': a text, or a list of texts"),
        ({"entry_point": "f", "prompt": "x", "test": ["assert 1", ""]}, "it has no tests"),
        ({"entry_point": "f", "prompt": "x", "test": "assert ("}, "is not valid Python"),
    ],
)
def test_docs_that_cannot_be_scored_are_refused(doc: dict[str, Any], fault: str) -> None:
    assert fault in str(Code(entry_point="entry_point", header="prompt").doc_fault(doc))
    assert "has no main()" in str(Code(language="c++").doc_fault({"test": "x"}))


TASK = """\
schema: 1
task: made
version: 1.0.0
title: Programs
dataset: {source: file, file: made.jsonl, id: id}
repeats: 5
prompt: [{role: user, content: "{{ prompt }}"}]
resources: {sandbox: bubblewrap}
parse: program
score: {code: {tests: test, entry_point: entry_point, header: prompt}}
metrics:
  - {name: pass@1, from: code, aggregate: {pass@k: 1}, failed: zero}
  - {name: pass@3, from: code, aggregate: {pass@k: 3}, failed: zero}
"""


def test_pass_at_k_is_the_unbiased_estimate(box: BubblewrapSandbox, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CREVAL_PLUGINS", "sandbox,testing")
    (tmp_path / "made.jsonl").write_text(json.dumps({"id": "a", **DOC}) + "\n")
    (tmp_path / "made.yaml").write_text(TASK)
    lines = [
        {"task": "made", "doc": "a", "condition": "default", "repeat": n, "answers": [RIGHT if n < 2 else "x = 1"]}
        for n in range(5)
    ]
    (tmp_path / "said.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = RunTask(tmp_path)("./made.yaml", f"replay/{tmp_path / 'said.jsonl'}", allow_code_execution=True)
    found = {name: metric["value"] for name, metric in done.metrics("made").items()}
    assert found == {"pass@1": pytest.approx(2 / 5), "pass@3": pytest.approx(1 - 1 / 10)}


def test_mistakes_in_the_file_are_named(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made.jsonl").write_text(json.dumps({"id": "a", **DOC}) + "\n")
    for wrong, said in (
        (TASK.replace("header: prompt", "heaber: prompt"), "Did you mean 'header'?"),
        (TASK.replace("parse: program", "parse: {program: pyton}"), "Did you mean 'python'?"),
        (TASK.replace("tests: test,", "tests: tset,"), "it has no tests in the field 'tset'"),
        (TASK.replace("resources: {sandbox: bubblewrap}\n", ""), "sandbox"),
    ):
        (tmp_path / "made.yaml").write_text(wrong)
        found = CliRunner().invoke(cli, ["validate", "./made.yaml"])
        assert found.exit_code != 0
        assert said in found.output

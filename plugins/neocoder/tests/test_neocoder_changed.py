"""Changed inputs: their shape, the tool that made them, and what they show of a program with its answers typed in."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.chat_server import ChatServer, Received

import creval
from creval.engine.run_options import RunOptions
from creval.plugin.data import DataOptions
from creval_neocoder.own.own_problems import gold_answers, read_own
from creval_neocoder.problem import Problem
from creval_neocoder.programs.changing import changed_lines, in_shape
from creval_neocoder.task.docs import runs_of
from creval_neocoder.task.source import open_own, open_published, soundness
from creval_sandbox.bubblewrap import BubblewrapSandbox

TOOLS = Path(__file__).resolve().parents[1] / "tools"
WORD = st.integers(-99, 99).map(str) | st.text("01", min_size=1, max_size=6) | st.text("AB", min_size=1, max_size=6)
CASE = st.lists(st.lists(WORD, min_size=1, max_size=5).map(" ".join), min_size=1, max_size=3)


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@given(CASE, st.lists(CASE, max_size=3), st.integers(0, 1000))
def test_lines_and_words_stay_as_many(lines: list[str], others: list[list[str]], seed: int) -> None:
    found = changed_lines(lines, others, random.Random(seed))
    assert [len(line.split()) for line in found] == [len(line.split()) for line in lines]
    assert found == changed_lines(lines, others, random.Random(seed))
    assert in_shape(lines, [lines])


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        (("3 2", "1 2 5", "ABA"), True),
        (("2 2", "1 2 5", "ABA"), False),  # the number says how many follow
        (("3 9", "1 2 5", "ABA"), False),  # beyond what was seen
        (("3 2", "2 1 5", "ABA"), False),  # no longer sorted
        (("3 2", "1 1 5", "ABA"), False),  # no longer distinct
        (("3 2", "1 2 -5", "ABA"), False),
        (("3 2", "1 2 05", "ABA"), False),
        (("3 2", "1 2 5", "ABC"), False),
    ],
)
def test_what_the_published_cases_have_in_common_is_kept(lines: tuple[str, ...], kept: bool) -> None:
    cases = [("3 2", "1 2 5", "AAA"), ("3 1", "1 3 4", "ABA"), ("2 2", "1 5", "BB")]
    assert in_shape(lines, cases) is kept


def test_a_permutation_stays_one() -> None:
    cases = [("3", "1 3 2"), ("4", "4 3 2 1")]
    assert in_shape(("3", "3 2 1"), cases)
    assert not in_shape(("3", "4 2 1"), cases)


def test_the_shipped_cases(problems: list[Problem], reference_data: Path, tmp_path: Path) -> None:
    options = DataOptions(offline=True, mirror=reference_data, cache=tmp_path)
    docs = {doc["id"]: doc for doc in open_published(0, base=tmp_path, options=options)}
    changed = {name: doc["changed"] for name, doc in docs.items() if doc["changed"]}
    assert sum(map(len, changed.values())) == 642
    assert len(changed) == 167
    for problem in problems:
        published = [case.lines for case in problem.cases]
        for row in changed.get(problem.name, ()):
            assert tuple(row["lines"]) not in published
            assert in_shape(row["lines"], published)
            assert row["output"]
    own = [dict(doc) for doc in open_own(0, base=tmp_path, options=options)]
    assert all(doc["changed"] for doc in own)
    assert all(len(runs_of(doc, "changed")) == 1 for doc in own)


def test_the_tools_find_again_what_is_shipped(
    sandbox: BubblewrapSandbox, problems: list[Problem], reference_data: Path, tmp_path: Path
) -> None:
    """Two published problems, one of them with unsound cases: every human solution on each case and changed case."""
    changing, classifying = tool("change_inputs"), tool("classify_cases")
    options = DataOptions(offline=True, mirror=reference_data, cache=tmp_path)
    docs = {doc["id"]: doc for doc in open_published(0, base=tmp_path, options=options)}
    for problem in (next(each for each in problems if each.name == name) for name in ("1891A", "1867A")):
        assert classifying.classes(problem, sandbox) == soundness()[problem.name]
        found = [
            {"lines": list(each.lines), "output": " ".join(each.answer)}
            for each in changing.changed_cases(problem, sandbox)
        ]
        assert found == docs[problem.name]["changed"]


def test_answers_typed_in_do_not_survive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One program prints the samples' answers, the others are gold answers: all pass, and one does not survive."""
    gold, problems = gold_answers(), {problem.statement.partition("\n")[0]: problem for problem in read_own()}

    def answer(request: Received) -> str:
        system, user = (message["content"] for message in request.body["messages"])
        if not system.startswith("You are a Python code generator"):
            return "- recursion"
        problem = problems[user.partition("\n")[0]]
        if problem.name == "own01":
            words = " ".join(word for case in problem.cases for word in case.words)
            return f"def solve():\n    print({words!r})"
        return gold[problem.name]

    with ChatServer(answer=answer) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        options = RunOptions(output=tmp_path / "run", roles={"augmenter": "hosted_vllm/r"}, allow_code_execution=True)
        result = creval.run(["neocoder_own_state0"], "hosted_vllm/m", options)
    found = {name.partition("[")[0]: metric for name, metric in result.metrics("neocoder_own_state0").items()}
    assert found["pass@1"]["value"] == 1
    assert found["survives_perturbation"]["value"] == pytest.approx(14 / 15)

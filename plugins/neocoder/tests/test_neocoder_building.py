"""Denial Prompting: constraints that grow and never repeat, one thread, stop rules, kills, and what comes of it."""

from __future__ import annotations

import gzip
import json
import re
import signal
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from support.chat_server import Answer, ChatServer, HttpError, Received
from support.commands import start

import creval
from creval.engine.run_options import RunOptions
from creval.errors import BudgetError, DataError, MissingPartError, RunError
from creval.plugin import Completion, Message, Reply
from creval_analyses.workbench import Workbench
from creval_neocoder.building.asking import SOLVER
from creval_neocoder.building.denial import drawn
from creval_neocoder.building.journal import CallJournal
from creval_neocoder.cli.building import build_states
from creval_neocoder.problem import BLOCK, Problem
from creval_neocoder.programs.extraction import find_program
from creval_neocoder.published.built import read_built, read_problem_file, without_header
from creval_neocoder.published.published_files import PublishedFiles
from creval_neocoder.published.published_problems import read_problems
from creval_neocoder.task.techniques import AUGMENTER
from creval_neocoder.techniques.vocabulary import VOCABULARY

REVIEWER = "You are a code reviewer"


def rows(count: int, size: int = 0) -> list[dict[str, Any]]:
    """Our own problems, not those that ship with the plugin."""
    return [
        {
            "problem_id": f"p{number:02}",
            "problem_statement": f"{number}. Add {number}\nPrint the number plus {number}.{' long' * size}\nInput\n"
            f"One number.\nOutput\nThe sum.\nExample\nInput\n1\nOutput\n{number + 1}",
            "input": [["1"]],
            "output": [str(number + 1)],
            "counted": False,
            "human_solutions": [f"print(int(input()) + {number})"],
            "human_solution_techniques": [["misc"]],
        }
        for number in range(count)
    ]


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    return problem_file(tmp_path, rows(10))


def problem_file(folder: Path, found: Sequence[Mapping[str, Any]]) -> Path:
    path = folder / "problems.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
    return path


def is_review(request: Received) -> bool:
    return str(request.body["messages"][0]["content"]).startswith(REVIEWER)


def forbidden(statement: str) -> list[str]:
    _, _, block = statement.partition(BLOCK + "\n")
    return re.findall(r"^- (.+)$", block, re.MULTILINE)


def solve(request: Received) -> str:
    """A program that is another one in each round."""
    title, _, _ = request.prompt.partition("\n")
    number = title.partition(".")[0]
    return f"```python\ndef solve():\n    print(int(input()) + {number} + {len(request.body['messages'])} * 0)\n```"


LISTS = ["for loop\n- if statement", "if statement\n- for loop\n- recursion", "for loop", "stack\n- queue"]
"""Of each problem in turn: the third finds nothing new after its first."""


class Maker:
    """A solver and a reviewer; the reviewer's lists are those of `LISTS`, by problem."""

    def __init__(self) -> None:
        self.requests: list[Received] = []

    def __call__(self, request: Received) -> Answer:
        self.requests.append(request)
        if not is_review(request):
            return Answer(solve(request))
        number = re.findall(r"\+ (\d+)", request.prompt)[0]
        return Answer(f"- {LISTS[int(number) % len(LISTS)]}")


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Maker]:
    made = Maker()
    with ChatServer(made) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        yield made


def build(problems: Path, output: Path, *more: str, model: str = "hosted_vllm/solver") -> Any:
    arguments = ["--problems", str(problems), "--model", model, "--augmenter", "hosted_vllm/reviewer", "--seed", "1"]
    return CliRunner().invoke(build_states, [*arguments, "-o", str(output), *more])


def built(problems: Path, output: Path, *more: str, **named: str) -> list[dict[str, Any]]:
    done = build(problems, output, *more, **named)
    assert done.exit_code == 0, done.output + repr(done.exception)
    found: list[dict[str, Any]] = json.loads(output.read_text(encoding="utf-8"))
    return found


def test_ten_problems(maker: Maker, problems: Path, tmp_path: Path) -> None:
    """Constraints grow, never repeat, and stay where nothing new is found; six solutions in a thread, five reviews."""
    made = built(problems, tmp_path / "built.json")
    assert [row["problem_id"] for row in made] == [f"p{number:02}" for number in range(10)]
    for number, row in enumerate(made):
        first, *lists = row["constraints_list"]
        assert first == ["this is the og problem"]
        assert (len(lists), len(row["codes"]), len(row["problem_statements"])) == (5, 6, 6)
        for before, after in zip([[], *lists], lists, strict=False):
            assert after[: len(before)] == before and len(after) - len(before) in (0, 1)
            assert len(set(after)) == len(after)
        found = {name.strip() for name in LISTS[number % 4].replace("- ", "").split("\n")}
        assert set(lists[-1]) == found and len(lists[len(found) - 1]) == len(found)
        assert [forbidden(text) for text in row["problem_statements"]] == [[], *(names[::-1] for names in lists)]
        assert row["ended"] is None
    reviews = [request for request in maker.requests if is_review(request)]
    assert len(reviews) == 50
    assert all(len(request.body["messages"]) == 2 for request in reviews)
    solutions = Counter(len(request.body["messages"]) for request in maker.requests if not is_review(request))
    assert solutions == {2 * turn: 10 for turn in range(1, 7)}
    longest = max((r for r in maker.requests if not is_review(r)), key=lambda r: len(r.body["messages"]))
    roles = [message["role"] for message in longest.body["messages"]]
    assert roles == ["system", *["user", "assistant"] * 5, "user"]
    assert all(request.body["temperature"] == (0 if is_review(request) else 1) for request in maker.requests)


def test_the_same_seed_gives_the_same_file_and_asks_nothing_again(maker: Maker, problems: Path, tmp_path: Path) -> None:
    made = built(problems, tmp_path / "one.json")
    asked = len(maker.requests)
    assert built(problems, tmp_path / "one.json") == made
    assert len(maker.requests) == asked
    assert built(problems, tmp_path / "other.json") == made
    done = build(problems, tmp_path / "one.json", "--generation", "temperature=0.5")
    assert isinstance(done.exception, RunError) and "another settings" in str(done.exception)


def messages_of(body: str) -> list[Message]:
    return [Message(message["role"], message["content"]) for message in json.loads(body)]


def test_killed_and_resumed(maker: Maker, problems: Path, tmp_path: Path) -> None:
    """After kill -9 the same command ends with the same file; only calls in flight are made again."""
    words = ["neocoder", "build", "--problems", str(problems), "--model", "hosted_vllm/solver"]
    words += ["--augmenter", "hosted_vllm/reviewer", "--seed", "1", "-o", "built.json"]
    process = start(tmp_path, *words)
    journal = tmp_path / "built.json.calls.jsonl"
    while process.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") >= 20):
        time.sleep(0.005)
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "built.json").exists()
    with journal.open("ab") as file:
        file.write(b'{"key": "torn')
    killed = tmp_path / "killed.jsonl"
    killed.write_bytes(journal.read_bytes())
    plan, *recorded = map(json.loads, journal.read_bytes().splitlines()[:-1])
    made = built(problems, tmp_path / "built.json")
    bodies = Counter(json.dumps(request.body["messages"]) for request in maker.requests)
    answers = CallJournal(killed, {name: value for name, value in plan.items() if name != "form"})
    known = {body for body in bodies for role in (SOLVER, AUGMENTER) if answers.find(role, messages_of(body), 0)}
    assert len(known) == len(recorded)
    assert all(bodies[body] == 1 for body in known)
    assert len(bodies) <= 110
    assert made == built(problems, tmp_path / "fresh.json")


def test_the_tasks_read_what_was_built(maker: Maker, problems: Path, tmp_path: Path) -> None:
    output = tmp_path / "mine.json"
    done = build(problems, output)
    assert "10 problems in state 0" in done.output and f"--tasks '{output.with_suffix('.yaml')}:*'" in done.output
    found = read_built(output)
    assert [len(problem.constraints) for problem in found] == [3, 4, 2, 3] * 2 + [3, 4]
    options = RunOptions(
        output=tmp_path / "run", roles={"augmenter": "hosted_vllm/reviewer"}, allow_code_execution=True
    )
    result = creval.run([f"{output.with_suffix('.yaml')}:*"], "hosted_vllm/solver", options)
    assert [(task["task"], task["counts"]["scored"]) for task in result.results["tasks"]] == [
        ("neocoder_mine_state0", 10),
        ("neocoder_mine_state1", 10),
        ("neocoder_mine_state2", 8),
        ("neocoder_mine_state3", 3),
    ]
    for task in ("neocoder_mine_state0", "neocoder_mine_state2"):
        values = {name.partition("[")[0]: each["value"] for name, each in result.metrics(task).items()}
        assert values["pass@1"] == values["divergent"] == 1
    assert values["convergent"] == 0


def test_an_answer_without_a_program_ends_the_problem_with_what_it_has(maker: Maker, tmp_path: Path) -> None:
    def refuse(request: Received) -> Answer:
        return Answer("I will not.") if forbidden(request.prompt) and not is_review(request) else maker(request)

    with ChatServer(refuse) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOSTED_VLLM_API_BASE", server.url)
        (row,) = built(problem_file(tmp_path, rows(1)), tmp_path / "built.json")
    assert (len(row["constraints_list"]), row["codes"][1]) == (2, "")
    assert find_program(row["codes"][0])
    assert "round 1 contains no program" in row["ended"]
    (problem,) = read_built(tmp_path / "built.json")
    assert [len(names) for names in problem.constraints] == [0, 1]


def test_lists_that_cannot_be_read_are_drawn_anew_then_end_the_problem(tmp_path: Path) -> None:
    lists = iter(["Nothing.", "- quantum annealing", "- recursion", "?", "?", "?"])

    def say(request: Received) -> Answer:
        return Answer(next(lists) if is_review(request) else solve(request))

    with ChatServer(say) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOSTED_VLLM_API_BASE", server.url)
        (row,) = built(problem_file(tmp_path, rows(1)), tmp_path / "built.json")
        count = len(server.requests)
        assert built(problem_file(tmp_path, rows(1)), tmp_path / "built.json") == [row]
        assert len(server.requests) == count == 8
    assert row["constraints_list"][1:] == [["recursion"]]
    assert "after round 1 the augmenter's list of techniques cannot be read" in row["ended"]


def test_a_thread_that_no_longer_fits_ends_the_problem_with_the_reason(maker: Maker, tmp_path: Path) -> None:
    def full(request: Received) -> Answer | HttpError:
        if not is_review(request) and len(request.body["messages"]) > 5:
            return HttpError(400, {"message": "This model's maximum context length is 4096 tokens."})
        return maker(request)

    with ChatServer(full) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOSTED_VLLM_API_BASE", server.url)
        (row,) = built(problem_file(tmp_path, rows(1)), tmp_path / "built.json")
    assert row["ended"].startswith("the thread of 6 messages does not fit into the solver's context")
    assert len(row["constraints_list"]) == 3


def test_failed_calls_leave_the_journal_and_the_command_continues(maker: Maker, problems: Path, tmp_path: Path) -> None:
    def moody(request: Received) -> Answer | HttpError:
        broken = "4. Add 4" in json.dumps(request.body["messages"]) and len(request.body["messages"]) > 3
        return HttpError(400, {"message": "out of order"}) if broken else maker(request)

    with ChatServer(moody) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOSTED_VLLM_API_BASE", server.url)
        done = build(problems, tmp_path / "built.json")
    assert isinstance(done.exception, RunError)
    assert "1 of 10 problems are unfinished" in str(done.exception) and "out of order" in str(done.exception)
    assert not (tmp_path / "built.json").exists()
    assert len(built(problems, tmp_path / "built.json")) == 10
    assert len(maker.requests) == 110


def test_the_budget_ends_a_build_and_nothing_is_lost(maker: Maker, problems: Path, tmp_path: Path) -> None:
    done = build(problems, tmp_path / "built.json", "--max-calls", "30")
    assert isinstance(done.exception, BudgetError)
    assert len(maker.requests) == 30
    assert len(built(problems, tmp_path / "built.json")) == 10
    assert len(maker.requests) == 110


def test_two_processes_do_not_write_one_book(tmp_path: Path) -> None:
    journal = CallJournal(tmp_path / "calls.jsonl", {"seed": 1})
    with pytest.raises(RunError, match="another process"):
        CallJournal(tmp_path / "calls.jsonl", {"seed": 1})
    reply = Reply((Completion("cut", "length"),), cost=0.5)
    journal.keep("target", [Message("user", "Hm\ud800?")], 0, reply)
    journal.close()
    again = CallJournal(tmp_path / "calls.jsonl", {"seed": 1})
    assert again.find("target", [Message("user", "Hm\ud800?")], 0) == ("cut", "length")
    assert again.find("target", [Message("user", "Hm\ud800?")], 1) is None
    assert (dict(again.calls), again.cost) == ({"target": 1}, 0.5)
    again.close()
    with pytest.raises(RunError, match="another seed"):
        CallJournal(tmp_path / "calls.jsonl", {"seed": 2})
    with (tmp_path / "calls.jsonl").open("a") as file:
        file.write("{}\n")
    with pytest.raises(RunError, match="damaged line"):
        CallJournal(tmp_path / "calls.jsonl", {"seed": 1})


names = st.lists(st.sampled_from(VOCABULARY), max_size=12)


@given(names, names, st.integers())
def test_what_is_drawn_is_new(techniques: list[str], denied: list[str], seed: int) -> None:
    found = drawn(techniques, denied, str(seed))
    assert set(found) <= set(techniques) - set(denied)
    assert bool(found) == bool(set(techniques) - set(denied))
    assert found == drawn(techniques[::-1], denied, str(seed))


def test_every_new_technique_may_be_drawn() -> None:
    seen = {drawn(["stack", "queue", "heap"], ["heap"], f"1/p/{turn}")[0] for turn in range(50)}
    assert seen == {"stack", "queue"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"problem_statement": None}, "no text 'problem_statement'"),
        ({"problem_id": 3}, "no text 'problem_id'"),
        ({"output": []}, "not lists of one length"),
        ({"input": [[3]]}, "a case is not a list of lines"),
        ({"output": [3]}, "a case is not a list of lines"),
        ({"human_solution_techniques": [["misc"], ["tree"]]}, "1 human solutions have 2 lists"),
    ],
)
def test_what_is_no_problem(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    good, bad = rows(2)
    with pytest.raises(DataError, match=said) as reported:
        read_problem_file(problem_file(tmp_path, [good, bad | change]))
    assert str(reported.value.where).endswith("problem 2")


def test_problems_are_distinguished_and_there_is_one_at_least(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a second problem is called 'p00'"):
        read_problem_file(problem_file(tmp_path, [*rows(1), *rows(1)]))
    (tmp_path / "built.json").write_text(json.dumps([{**rows(1)[0], "constraints_list": [["x"]]}]))
    with pytest.raises(DataError, match="not lists of one length"):
        read_built(tmp_path / "built.json")


def test_the_published_problems_can_be_built_from(
    reference_data: Path, problems_of_paper: list[Problem], tmp_path: Path
) -> None:
    """The authors' rows of test cases are problems; without its header a statement is the published one."""
    packed = reference_data / "neocoder" / "test_cases_annotated.json.gz"
    published = {each.name for each in problems_of_paper}
    rows = [row for row in json.loads(gzip.decompress(packed.read_bytes())) if row["problem_id"] in published]
    (tmp_path / "cases.json").write_text(json.dumps(rows), encoding="utf-8")
    found = {each.name: each for each in read_problem_file(tmp_path / "cases.json")}
    same = [each for each in problems_of_paper if found[each.name].statement == each.statement]
    assert len(same) > 190
    assert all(found[each.name].cases == each.cases for each in problems_of_paper)


@pytest.fixture
def problems_of_paper(files: PublishedFiles) -> list[Problem]:
    return read_problems(files)


def test_headers() -> None:
    head = "time limit per test\n1 second\nmemory limit per test\n256 megabytes\n"
    head += "input\nstandard input\noutput\nstandard output"
    assert without_header(f"A. Sum\n{head}\nAdd them.") == "A. Sum\nAdd them."
    assert without_header("A. Sum\nAdd them.\nInput\nTwo.") == "A. Sum\nAdd them.\nInput\nTwo."


def test_a_real_small_model_builds(maker: Maker, tmp_path: Path, small_model: str) -> None:
    """SmolLM2 solves, on two problems of which one is too long for its thread; its answers end as they end."""
    found = [rows(1)[0], {**rows(2)[1], "problem_statement": rows(2, size=5000)[1]["problem_statement"]}]

    def review(request: Received) -> Answer:
        return Answer("- for loop\n- recursion\n- stack\n- queue\n- tuple\n- heap")

    with ChatServer(review) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOSTED_VLLM_API_BASE", server.url)
        short, long = built(
            problem_file(tmp_path, found), tmp_path / "built.json", "--rounds", "2", "--generation", "max_tokens=48",
            model=small_model,
        )  # fmt: skip
    assert short["ended"] is None or "contains no program" in short["ended"]
    assert len(short["codes"]) == len(short["constraints_list"]) == len(short["problem_statements"]) >= 1
    assert "does not fit into the solver's context" in long["ended"]
    assert long["codes"] == [""]
    assert [len(each.constraints) for each in read_built(tmp_path / "built.json")][1] == 1


def test_the_augmenter_is_reached_where_it_is_the_same_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--base-url` is the model's, whichever role it plays; another model is not sent there."""
    monkeypatch.delenv("HOSTED_VLLM_API_BASE", raising=False)
    roles = {"solver": "hosted_vllm/m", "augmenter": "hosted_vllm/m", "other": "hosted_vllm/n"}
    bench = Workbench(RunOptions(roles=roles, base_url="http://127.0.0.1:9/v1"), "solver")
    assert bench.model("augmenter").spec == bench.model("solver").spec
    with pytest.raises(MissingPartError, match="address of its server"):
        bench.model("other")

"""Whole runs: the examples of the published tasks on a copy of the data, and the suite over our own problems."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer, Received
from support.forked import begun

import creval
from creval.engine.run import resume
from creval.engine.run_options import RunOptions
from creval.errors import UsageError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_neocoder.own.own_problems import read_own
from creval_neocoder.programs.extraction import is_python, runnable
from creval_neocoder.published.published_files import PublishedFiles
from creval_neocoder.published.published_problems import read_problems
from creval_neocoder.techniques.syntax import techniques_of
from creval_testing.task_examples import run_examples

PUBLISHED = [f"neocoder{kind}_state{state}" for kind in ("", "_released", "_repeated") for state in (0, 5)]
"""The first and the last of each file's six; with CREVAL_DATA set the conformance tests run all of them."""
OWN = [f"neocoder_own_state{state}" for state in range(6)]


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_examples_of_a_published_task(
    name: str, reference_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CREVAL_DATA", str(reference_data))
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path))
    plugins = load_plugins()
    task = TaskIndex(plugins).load(name)
    outcomes = asyncio.run(run_examples(task, RunOptions(offline=True, allow_code_execution=True), plugins))
    assert [f"{each.example}: {fault}" for each in outcomes for fault in each.faults] == []


@pytest.fixture(autouse=True)
def few_replicates(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here looks at an interval."""
    monkeypatch.setattr("creval.scoring.intervals.REPLICATES", 50)


CODER = "You are a Python code generator"
PROBLEMS = {problem.statement.partition("\n")[0]: problem for problem in read_own()}


def answer(request: Received) -> str:
    """A coder that answers with the first human solution, and a reviewer that names what the syntax shows."""
    system, user = (message["content"] for message in request.body["messages"])
    if system.startswith(CODER):
        return f"```python\n{PROBLEMS[user.partition(chr(10))[0]].solutions[0]}\n```"
    return "\n".join(f"- {name}" for name in sorted(techniques_of(user)) or ["misc"])


def reviewed(server: ChatServer) -> list[str]:
    """The programs that the reviewer was asked about, in order."""
    return [
        request.body["messages"][-1]["content"]
        for request in server.requests
        if not request.body["messages"][0]["content"].startswith(CODER)
    ]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with ChatServer(answer=answer) as running:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", running.url)
        yield running


def options(output: Path, **changes: Any) -> RunOptions:
    plain = {"roles": {"augmenter": "hosted_vllm/reviewer"}, "allow_code_execution": True}
    return RunOptions(output=output, seed=1, cache_folder=output.parent / "cache", **{**plain, **changes})


def values(result: creval.RunResult, task: str) -> dict[str, float]:
    return {name.partition("[")[0]: metric["value"] for name, metric in result.metrics(task).items()}


def test_all_states_in_one_run(server: ChatServer, tmp_path: Path) -> None:
    """Each distinct program is reviewed once, whatever the state; its technique decides in which state it follows."""
    result = creval.run(["neocoder_own"], "hosted_vllm/coder", options(tmp_path / "run"))
    assert result.error_share() == 0
    asked = reviewed(server)
    assert len(asked) == len(set(asked)) == 15
    for task in OWN:
        found = values(result, task)
        assert found["pass@1"] == 1
        assert found["neogauge"] <= min(found["convergent"], found["divergent"])
        assert found["convergent"] <= min(found["pass@1"], found["constraint_following"])
    assert values(result, OWN[0])["constraint_following"] == 1
    assert values(result, OWN[5])["constraint_following"] < 1


def test_correctness_needs_no_augmenter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An augmenter that fails takes its own numbers with it, and neither renames nor blocks pass@1."""
    with ChatServer(answer=lambda request: answer(request) if is_coder(request) else "no list at all") as broken:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", broken.url)
        result = creval.run([OWN[0]], "hosted_vllm/coder", options(tmp_path / "run"))
    metrics = result.metrics(OWN[0])
    assert metrics["pass@1"]["value"] == 1
    neogauge = next(metric for name, metric in metrics.items() if name.startswith("neogauge"))
    assert neogauge["value"] is None


def is_coder(request: Received) -> bool:
    return bool(request.body["messages"][0]["content"].startswith(CODER))


def test_floor_and_ceiling(server: ChatServer, tmp_path: Path) -> None:
    floor = creval.run(OWN[:1], "baseline/floor", options(tmp_path / "floor"))
    ceiling = creval.run(["neocoder_own"], "baseline/ceiling", options(tmp_path / "ceiling"))
    assert values(floor, OWN[0])["pass@1"] == values(floor, OWN[0])["neogauge"] == 0
    for task in OWN:
        found = values(ceiling, task)
        assert found["pass@1"] == found["convergent"] == found["correct_sound"] == 1
        assert found["neogauge"] == found["divergent"] > 0


def test_the_ceiling_is_measured_next_to_the_other_solutions(
    reference_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every solution's own published techniques as the augmenter's: by Eq. 6, and not 0 by construction."""
    monkeypatch.setenv("CREVAL_DATA", str(reference_data))
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path))
    problems = read_problems(PublishedFiles(reference_data / "neocoder", offline=True))
    listed = {
        runnable(source): names
        for problem in problems
        for source, names in zip(problem.solutions, problem.techniques, strict=True)
        if is_python(source)
    }

    def review(request: Received) -> str:
        return "\n".join(f"- {name}" for name in listed[request.body["messages"][-1]["content"]])

    with ChatServer(answer=review) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        result = creval.run(["neocoder_state0"], "baseline/ceiling", options(tmp_path / "run", limit=12, offline=False))
    found = values(result, "neocoder_state0")
    assert found["convergent"] == found["pass@1"] > 0.5
    assert 0 < found["neogauge"] <= found["divergent"]


def test_human_techniques_by_the_augmenter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names recursion in every program, so with its own lists of the human solutions nothing is new any more."""
    task = tmp_path / "detecting.yaml"
    task.write_text(
        "schema: 1\ninclude: neocoder/neocoder_own_state1\ntask: detecting\nversion: 1.0.0\n"
        "score: [neocoder_tests, {neocoder_techniques: {human_techniques: detect}}]\n"
        "tests:\n  - {name: empty, answer: '', status: unparsed}\n"
    )
    with ChatServer(answer="- recursion") as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        shipped = creval.run([OWN[1]], "baseline/ceiling", options(tmp_path / "shipped", limit=2))
        before = len(server.requests)
        detected = creval.run([str(task)], "baseline/ceiling", options(tmp_path / "detected", limit=2))
    assert values(shipped, OWN[1])["neogauge"] == 1
    assert values(detected, "detecting")["neogauge"] == values(detected, "detecting")["divergent"] == 0
    assert (before, len(server.requests)) == (2, 2 + 2 + 10)


def test_the_syntax_detector_is_reported_next_to_it(server: ChatServer, tmp_path: Path) -> None:
    """The reviewer here names what the syntax shows, so both agree; no score of the paper is made of it."""
    found = values(creval.run(OWN[:1], "hosted_vllm/coder", options(tmp_path / "run")), OWN[0])
    assert found["syntax_precision"] == found["syntax_recall"] == 1


def write_answers(path: Path) -> Path:
    """A file of answers for every problem and state: the first human solution."""
    rows = [
        {"task": task, "doc": problem.name, "answers": [f"```python\n{problem.solutions[0]}\n```"]}
        for task in OWN
        for problem in PROBLEMS.values()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_killed_and_resumed(server: ChatServer, tmp_path: Path) -> None:
    """With recorded answers: a kill loses calls in flight alone, and no program that was reviewed is reviewed again."""
    answers = write_answers(tmp_path / "answers.jsonl")
    words = ["--tasks", "neocoder_own", "--model", f"replay/{answers}", "--role"]
    words += ["augmenter=hosted_vllm/reviewer", "--allow-code-execution", "--output", "run", "--concurrency", "2"]
    server.hold(8)  # on a busy machine the kill may come late
    process = begun(words, tmp_path, {**os.environ, "CREVAL_CACHE": str(tmp_path / "cache")})
    journal = tmp_path / "run" / "calls" / "augmenter.jsonl"
    server.wait_for(5)
    while not (journal.exists() and journal.read_bytes().count(b"\n") >= 5):
        assert not process.ended, "the run ended too early"
        time.sleep(0.01)
    assert process.kill() == -signal.SIGKILL
    before = len(reviewed(server))
    server.release()
    finished = resume(tmp_path / "run", allow_code_execution=True)
    assert all(task["counts"]["scored"] == 15 for task in finished.results["tasks"])
    again = reviewed(server)
    assert len(again) == len(server.requests), "the target's answers are the recorded ones"
    assert len(set(again)) == 15
    assert len(again) - len(set(again)) <= 2, before


JUNK = (
    "import os\nos.write(1, b'junk\\n')\ndef solve():\n    print(input())",
    "import os\nos.write(1, b'null\\n')\ndef solve():\n    print(input())",
    "import os\ndef solve():\n    os._exit(0)",
    "import os\nos._exit(0)\ndef solve():\n    pass",
    "import sys\ndef solve():\n    sys.exit(3)",
    "import os\nos.close(1)\ndef solve():\n    print(input())",
)
"""Programs that write to the descriptor of the evaluator's own output, or end it early."""


def test_programs_that_disturb_the_released_evaluator_are_wrong_answers(
    reference_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CREVAL_DATA", str(reference_data))
    coming = iter(JUNK)

    def said(request: Received) -> str:
        return f"```python\n{next(coming)}\n```" if request.body["model"] == "coder" else "- if statement"

    with ChatServer(answer=said) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        given = options(tmp_path / "run", limit=f"first:{len(JUNK)}", offline=True, concurrency=1)
        result = creval.run(["neocoder_released_state0"], "hosted_vllm/coder", given)
    counts = result.results["tasks"][0]["counts"]
    assert (counts["scored"], counts["errored"]) == (len(JUNK), 0)
    assert values(result, "neocoder_released_state0")["pass@1"] == 0


def test_no_run_without_consent(server: ChatServer, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="runs code that the model wrote"):
        creval.run(OWN[:1], "hosted_vllm/coder", options(tmp_path / "run", allow_code_execution=False))
    assert server.requests == []


@pytest.mark.usefixtures("server")
def test_a_real_small_model(tmp_path: Path, small_model: str) -> None:
    """SmolLM2 answers one of our own problems; whatever it writes is read, run and judged without an error."""
    changes = {"limit": 1, "generation": {"max_tokens": 12}, "offline": False}
    result = creval.run([OWN[1]], small_model, options(tmp_path / "run", **changes))
    (task,) = result.results["tasks"]
    assert task["counts"]["errored"] == task["counts"]["skipped"] == 0
    assert sum(task["counts"][status] for status in ("scored", "unparsed", "truncated", "refused")) == 1
    assert 0 <= values(result, OWN[1])["pass@1"] <= 1


UNREADABLE = ["I do not know."] * 5


def test_numbers_are_over_the_problems_that_have_them(
    reference_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Table 3's denominators, and those of the sound cases, also where no answer can be read."""
    monkeypatch.setenv("CREVAL_DATA", str(reference_data))
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path))
    monkeypatch.setenv("HOSTED_VLLM_API_BASE", "http://127.0.0.1:9")
    tasks = [*(f"neocoder_released_state{state}" for state in range(6)), "neocoder_sampling_state0"]
    problems = read_problems(PublishedFiles(reference_data / "neocoder", offline=True))
    rows = [{"task": task, "doc": problem.name, "answers": UNREADABLE} for task in tasks for problem in problems]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    result = creval.run(tasks, f"replay/{answers}", options(tmp_path / "run", offline=True))
    found = [{name.partition("[")[0]: each for name, each in result.metrics(task).items()} for task in tasks]

    def over(name: str) -> list[int]:
        return [metrics[name]["n"] for metrics in found[:6]]

    assert over("pass@1") == over("constraint_following") == [199, 199, 198, 194, 176, 97]
    assert over("convergent") == over("divergent") == over("neogauge") == [198, 198, 197, 193, 175, 97]
    assert over("correct_sound")[0] == 182
    assert (found[6]["pass@5"]["n"], found[6]["correct_sound@5"]["n"]) == (198, 182)
    counts = found[0]["correct_sound"]["counts"]
    assert (counts["unparsed"], counts["skipped"], found[0]["correct_sound"]["n_failed"]) == (182, 0, 182)

"""The strategies with scripted models on our own problems, every branch; the tree search with a real small model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.chat_server import Answer, ChatServer, Received

import creval
from creval.engine.run_options import RunOptions
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_neocoder.own.own_problems import gold_answers, read_own
from creval_neocoder.strategies.best import Merit, choose
from creval_neocoder.strategies.feedback import read_tests
from creval_testing.task_examples import run_examples

GOLD = gold_answers()["own02"]
WRONG = "def solve():\n    print(1)"
FOR_LOOP = next(problem for problem in read_own() if problem.name == "own02").solutions[0]
REVIEWER = "You are a code reviewer"
REFLECTING = "You look at a program that failed"
TESTING = "You write tests"
PLANNING = "You plan how"

Say = Callable[[Received], str | Answer]


def system(request: Received) -> str:
    return str(request.body["messages"][0]["content"])


def review(request: Received) -> str:
    return "- recursion" if "answers(" in request.prompt or "count(" in request.prompt else "- for loop"


class Play:
    """A run of one strategy on own02 in state 1 against a server, and what came of it."""

    def __init__(self, tmp_path: Path, strategy: str, say: Say, parameters: str = "", **changes: Any) -> None:
        self.solver: list[Received] = []

        def answer(request: Received) -> Answer:
            if system(request).startswith(REVIEWER):
                return Answer(review(request))
            self.solver.append(request)
            said = say(request)
            return said if isinstance(said, Answer) else Answer(said)

        task = tmp_path / "own.yaml"
        task.write_text(
            f"schema: 1\ntask: mine\nversion: 1.0.0\ntitle: mine\ninclude: neocoder/neocoder_{strategy}_state1\n"
            f"dataset: {{source: neocoder_own}}\n{parameters}",
            encoding="utf-8",
        )
        plain: dict[str, Any] = {"allow_code_execution": True, "limit": "first:2", "output": tmp_path / "run"}
        with ChatServer(answer) as server:
            roles = {"augmenter": "hosted_vllm/reviewer"}
            options = RunOptions(base_url=server.url, roles=roles, **{**plain, **changes})
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("HOSTED_VLLM_API_BASE", server.url)
                self.result = creval.run([str(task)], "hosted_vllm/coder", options)
        run = creval.open_run(tmp_path / "run")
        self.samples = {sample.key.doc: sample for sample in run.samples()}
        self.scores = {score.key.doc: score for score in run.scores()}

    @property
    def outcome(self) -> Mapping[str, Any]:
        return self.samples["own02"].outcome

    @property
    def numbers(self) -> Mapping[str, float]:
        return self.scores["own02"].scores


def about_own02(request: Received) -> bool:
    return "Even lamps" in json.dumps(request.body["messages"])


def test_self_correction_passes_at_the_second_try(tmp_path: Path) -> None:
    def say(request: Received) -> str:
        if system(request).startswith(REFLECTING):
            return "It prints one line whatever comes."
        return GOLD if "Your previous program" in request.prompt and about_own02(request) else WRONG

    play = Play(tmp_path, "self_correction", say)
    assert play.outcome == {"trials": 2, "passed": True, "tests": 1, "feedback": "sample"}
    assert play.numbers["convergent"] == play.numbers["pass@1"] == 1
    retry = next(each for each in play.solver if "Your previous program" in each.prompt and about_own02(each))
    assert WRONG.splitlines()[0] in retry.prompt
    assert "It prints one line whatever comes." in retry.prompt
    assert "Your program printed:\n1" in retry.prompt and "0 of 1 tests pass" in retry.prompt
    assert "DO NOT use the following techniques\n- for loop" in retry.prompt
    other = play.samples["own01"].outcome
    assert (other["trials"], other["passed"]) == (5, False)
    assert len(play.samples["own01"].calls) == 9


def test_self_correction_passes_at_once_without_a_reflection(tmp_path: Path) -> None:
    play = Play(tmp_path, "self_correction", lambda request: GOLD if about_own02(request) else WRONG)
    assert (play.outcome["trials"], len(play.samples["own02"].calls)) == (1, 1)


def test_self_correction_with_tests_of_its_own(tmp_path: Path) -> None:
    """The tests that the model writes decide, be they wrong; without readable ones the first program stands."""

    def say(request: Received) -> str:
        if system(request).startswith(TESTING):
            return "Input\n1\n2 4\nOutput\n1" if about_own02(request) else "I would test the edge cases."
        return WRONG

    parameters = "protocol: {neocoder.self_correction: {feedback: own}}\n"
    play = Play(tmp_path, "self_correction", say, parameters)
    assert play.outcome == {"trials": 1, "passed": True, "tests": 1, "feedback": "own"}
    assert play.numbers["pass@1"] == 0
    assert play.samples["own01"].outcome == {"trials": 1, "passed": None, "tests": 0, "feedback": "own"}


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("I cannot.", "There is no Python program"),
        ("def solve():\n    print(1 / 0)", "failed: runtime error\nIt said:\nZeroDivisionError"),
        ("def solve():\n    pass", "printed:\n(nothing)"),
        ("import pandas\ndef solve():\n    print(1)", "failed: missing library"),
    ],
)
def test_what_a_model_reads_about_a_failure(tmp_path: Path, program: str, expected: str) -> None:
    def say(request: Received) -> str:
        return "Hm." if system(request).startswith(REFLECTING) else program

    parameters = "protocol: {neocoder.self_correction: {trials: 2}}\n"
    play = Play(tmp_path, "self_correction", say, parameters, limit="first:1")
    assert expected in play.solver[1].prompt
    assert len(play.solver) == 3


def test_a_statement_without_a_sample_is_an_error_with_its_fix(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text(
        json.dumps(
            {"id": "x", "state": 1, "problem": "Print 1.", "constraints": ["for loop"], "cases": [], "sound": []}
            | {"counted": False, "any_case": False, "samples": [], "human": [], "solutions": []}
        ),
        encoding="utf-8",
    )
    play = Play(
        tmp_path,
        "self_correction",
        lambda _: WRONG,
        data={"mine": tmp_path / "docs.jsonl"},
        limit=None,
        allowed_error_share=1.0,
    )
    (sample,) = play.samples.values()
    assert sample.status == "errored"
    assert "no sample" in str(sample.reason) and "feedback: own" in str(sample.reason)


def test_a_plan_that_is_ignored_is_scored_by_the_program(tmp_path: Path) -> None:
    def say(request: Received) -> str | Answer:
        if system(request).startswith(PLANNING):
            return Answer("1. Use no loop.\n2. Recurse over", finish_reason="length")
        return FOR_LOOP

    play = Play(tmp_path, "planning", say)
    implementing = [each for each in play.solver if not system(each).startswith(PLANNING)]
    assert all("2. Recurse over" in each.prompt for each in implementing)
    assert all(system(each).startswith("You are a Python code generator") for each in implementing)
    assert play.outcome == {"plan_lines": 2}
    assert (play.numbers["pass@1"], play.numbers["constraint_following"], play.numbers["convergent"]) == (1, 0, 0)


FIVE = [WRONG, "No code.", GOLD, FOR_LOOP, "def solve():\n    print(2)"]


def test_sampling_takes_the_best_of_five(tmp_path: Path) -> None:
    def say(request: Received) -> Answer:
        texts = FIVE if about_own02(request) else [WRONG] * 5
        choices = [
            {"index": index, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            for index, text in enumerate(texts)
        ]
        assert request.body["n"] == 5
        return Answer("", extra={"choices": choices})

    play = Play(tmp_path, "sampling", say)
    assert play.numbers["pass@5"] == play.numbers["correct_sound@5"] == 1
    assert play.numbers["pass@1"] == pytest.approx(2 / 5)
    assert play.numbers["convergent"] == play.numbers["neogauge"] == 1
    assert play.scores["own01"].scores["pass@5"] == 0
    metrics = {name.partition("[")[0]: metric for name, metric in play.result.metrics("mine").items()}
    assert metrics["pass@5"]["value"] == 0.5
    assert metrics["pass@1"]["value"] == pytest.approx(0.2)


def test_sampling_counts_cut_answers_as_failed_tries(tmp_path: Path) -> None:
    def say(request: Received) -> Answer:
        endings = ["length"] * 5 if not about_own02(request) else ["length", "stop", "length", "length", "stop"]
        choices = [
            {"index": index, "message": {"role": "assistant", "content": GOLD}, "finish_reason": ending}
            for index, ending in enumerate(endings)
        ]
        return Answer("", extra={"choices": choices})

    play = Play(tmp_path, "sampling", say)
    assert play.outcome == {"samples": 5, "lost": 3}
    assert play.numbers["pass@1"] == pytest.approx(2 / 5)
    assert (play.samples["own01"].status, play.scores["own01"].status) == ("unparsed", "unparsed")


def answer_with(tokens: list[tuple[str, float]], finish: str, *others: tuple[str, float]) -> Answer:
    """A completion with its tokens; `others` might have come in place of the first one."""
    content = [{"token": name, "logprob": at, "top_logprobs": [{"token": name, "logprob": at}]} for name, at in tokens]
    content[0]["top_logprobs"] += [{"token": name, "logprob": at} for name, at in others]  # type: ignore[operator]
    message = {"role": "assistant", "content": "".join(token for token, _ in tokens)}
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": {"content": content}}
    return Answer("", extra={"choices": [choice]})


def test_tree_search_leaves_a_cut_rollout_for_a_program_that_passes(tmp_path: Path) -> None:
    """The greedy program is cut and passes one case of four; the third rollout tries the other first token."""
    first, rest = GOLD.splitlines(keepends=True)[0], "".join(GOLD.splitlines(keepends=True)[1:])

    def say(request: Received) -> Answer:
        if request.body["messages"][-1]["role"] == "assistant":
            return answer_with([(rest, 0.0)], "stop")
        return answer_with([("def solve():\n    ", -0.357), ("print(1)", 0.0)], "length", (first, -1.204))

    play = Play(tmp_path, "mcts", say)
    assert play.outcome == {"calls": 2, "rewards": [0.25, 0.25, 1.0], "cut": 2, "programs": 2, "chosen": 2}
    assert play.numbers["convergent"] == play.numbers["neogauge"] == 1
    begun, gone_on = (each.body for each in play.solver if about_own02(each))
    assert gone_on["messages"][-1] == {"role": "assistant", "content": first}
    assert (gone_on["continue_final_message"], gone_on["add_generation_prompt"]) == (True, False)
    assert "continue_final_message" not in begun
    assert (begun["temperature"], begun["top_logprobs"]) == (0, 3)
    assert (begun["max_tokens"], gone_on["max_tokens"]) == (1024, 1023)


NEW, PLAIN, NOT_FOLLOWING, FAILING = (
    Merit(True, True, 0.5),
    Merit(True, True, 0.0),
    Merit(True, False, 1.0),
    Merit(False, True, 0.9),
)


@pytest.mark.parametrize(
    ("merits", "ours", "first"),
    [
        ([FAILING, PLAIN, NEW], 2, 2),
        ([FAILING, PLAIN], 1, 0),
        ([NOT_FOLLOWING, FAILING], 0, 0),
        ([FAILING, NOT_FOLLOWING], 1, 0),
        ([PLAIN] * 5, 0, 0),
        ([Merit(False, True, None), Merit(True, True, None)], 1, 0),
    ],
)
def test_the_best_of_several(merits: list[Merit], ours: int, first: int) -> None:
    """The product, then passing and following, then the share, then the first; `first` has the product alone."""
    assert choose(merits) == ours
    assert choose(merits, "first") == first


@given(st.lists(st.builds(Merit, st.booleans(), st.booleans(), st.floats(0, 1)), min_size=1, max_size=6))
def test_the_best_is_no_worse_than_any_in_its_order(merits: list[Merit]) -> None:
    best = merits[choose(merits)]
    assert best.neogauge == max(each.neogauge for each in merits)
    assert best.convergent == any(each.convergent for each in merits)
    assert merits[choose(merits, "first")].neogauge == best.neogauge
    assert best.neogauge <= min(best.convergent, best.share or 0.0)


@pytest.mark.parametrize(
    "text",
    [
        "Input\n2\n1 2\nOutput\n3\n",
        "**Test 1**\n\n**Input:**\n```\n2\n1 2\n```\n**Output:**\n```\n3\n```\nThis adds them.\n",
        "1. Input:\n2\n1 2\n1. Output:\n3",
    ],
)
def test_tests_as_models_write_them(text: str) -> None:
    (run,) = read_tests(text)
    assert (run.stdin, run.words) == (b"2\n1 2\n", ("3",))


def test_six_tests_at_most_and_no_half_ones() -> None:
    assert len(read_tests("Input\n1\nOutput\n2\n" * 9)) == 6
    assert read_tests("Output\n2\n") == read_tests("Input\n\nOutput\n2\n") == read_tests("Some words.") == []


@pytest.mark.parametrize("state", [0, 5])
@pytest.mark.parametrize("strategy", ["sampling", "self_correction", "planning", "mcts"])
def test_the_examples_of_a_published_task(
    strategy: str, state: int, reference_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All states of a strategy share one list of examples."""
    monkeypatch.setenv("CREVAL_DATA", str(reference_data))
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path))
    plugins = load_plugins()
    task = TaskIndex(plugins).load(f"neocoder_{strategy}_state{state}")
    outcomes = asyncio.run(run_examples(task, RunOptions(offline=True, allow_code_execution=True), plugins))
    assert len(outcomes) == 4
    assert [f"{each.example}: {fault}" for each in outcomes for fault in each.faults] == []


def test_a_tree_search_with_a_real_small_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_model: str
) -> None:
    """Four rollouts on a problem with SmolLM2; the greedy first completion is shared by the likeliest child."""
    parameters = "protocol: {neocoder.mcts: {rollouts: 4, max_tokens: 24}}\n"
    task = tmp_path / "own.yaml"
    task.write_text(
        "schema: 1\ntask: mine\nversion: 1.0.0\ntitle: mine\ninclude: neocoder/neocoder_mcts_state1\n"
        f"dataset: {{source: neocoder_own}}\n{parameters}",
        encoding="utf-8",
    )
    with ChatServer(answer=review) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        options = RunOptions(
            roles={"augmenter": "hosted_vllm/reviewer"},
            allow_code_execution=True,
            limit="first:1",
            output=tmp_path / "run",
        )
        result = creval.run([str(task)], small_model, options)
    (counted,) = result.results["tasks"]
    assert counted["counts"]["errored"] == 0
    samples = list(creval.open_run(tmp_path / "run").samples())
    assert len(samples) == 1
    for sample in samples:
        assert 1 <= len(sample.outcome["rewards"]) <= 4
        assert sample.outcome["calls"] == len(sample.calls) <= 5
        assert sample.answers
        begins = [str(call.messages[-1]) for call in sample.calls[1:]]
        assert len(set(begins)) == len(begins)
        assert all(call.settings["temperature"] == 0 for call in sample.calls)

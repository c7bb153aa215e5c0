"""Whole runs: floor, ceiling, strategies, a judge over the network, kill -9 while it judges, a real small model."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any, Protocol

import pytest
from create_support import begin, invoked, judge_of, metrics, path_in, rows, serve
from support.chat_server import ChatServer

from creval import RunOptions
from creval import run as creval_run
from creval_create.queries.own import judged_paths
from creval_create.utility.distance import transformed
from creval_create.utility.rules import PATIENCES, Rules
from creval_create.utility.strength import path_strength
from creval_create.utility.utility import utility

SHIPPED = ("--role", "judge=create/shipped", "--offline")


class Run(Protocol):
    """Runs creval into `folder/name`, which ends with this exit code."""

    def __call__(self, folder: Path, name: str, *arguments: str, code: int = 0, **environment: str) -> Path: ...


@pytest.fixture
def run(minilm: Any) -> Run:
    def play(folder: Path, name: str, *arguments: str, code: int = 0, **environment: str) -> Path:
        assert invoked(folder, minilm, *arguments, "--output", name, **environment) == code
        return folder / name

    return play


def reach(server: ChatServer) -> dict[str, str]:
    """What tells creval where target and judge are."""
    return {"HOSTED_VLLM_API_BASE": server.url}


def test_floor_and_ceiling_by_the_shipped_verdicts(tmp_path: Path, run: Run) -> None:
    floor = metrics(run(tmp_path, "floor", "--tasks", "create", "--model", "baseline/floor", *SHIPPED))
    ceiling = metrics(run(tmp_path, "ceiling", "--tasks", "create", "--model", "baseline/ceiling", *SHIPPED))
    assert {floor[f"creative_utility@{patience}"] for patience in ("0.7", "0.9", "1.0")} == {1.0}
    assert (floor["paths"], floor["strength"], floor["factuality"], floor["distance"]) == (1, 1, 1, None)
    assert ceiling["creative_utility@0.9"] > 15 and ceiling["paths"] >= 8
    funnel = [ceiling[name] for name in ("printed", "readable", "distinct", "valid", "paths")]
    assert len(set(funnel)) == 1 and ceiling["valid_strict"] == funnel[0]
    assert ceiling["tokens"] is None


def test_every_number_is_computed_anew_from_what_a_score_keeps(tmp_path: Path, run: Run) -> None:
    """Any patience, threshold and filter, without judge or encoder: Table 8 and Figure 5 among them."""
    import numpy as np

    text = "include: create/create\ntask: all_judged\nscore: [create_counts, {create: {strength_of: valid}}]\n"
    (tmp_path / "all_judged.yaml").write_text(text)
    with serve() as server:
        folder = run(
            tmp_path, "kept", "--tasks", "./all_judged.yaml", "--model", "hosted_vllm/target",
            "--role", "judge=hosted_vllm/judge", "--limit", "6", **reach(server),
        )  # fmt: skip
    seen_false = False
    for row in rows(folder, "scores", "all_judged"):
        kept = row["details"]
        size = len(kept["embedded"])
        raw = np.zeros((size, size))
        for i, line in enumerate(kept["distances"]):
            raw[i, :i] = raw[:i, i] = line
        places = {place: i for i, place in enumerate(kept["embedded"])}
        factual = [place for place in kept["embedded"] if all(kept["paths"][place]["factual"])]
        seen_false |= len(factual) < size
        chosen = [places[place] for place in factual]
        qualities = [path_strength(kept["paths"][place]["class_sizes"]) for place in factual]
        distances = transformed(raw[np.ix_(chosen, chosen)])
        for patience in PATIENCES:
            stored = row["scores"][f"creative_utility@{patience:.1f}"]
            assert utility(qualities, distances, Rules(), patience) == pytest.approx(stored, abs=1e-4)
        assert sum(kept["paths"][place].get("adds", 0) for place in kept["order"]) == pytest.approx(
            row["scores"]["creative_utility@1.0"], abs=1e-4
        )
        assert all("class_sizes" in path for path in kept["paths"] if "factual" in path)
    assert seen_false, "the judge held every triple to be true, so nothing was filtered"


def test_the_five_strategies(tmp_path: Path, run: Run) -> None:
    with serve() as server:
        folder = run(
            tmp_path, "five", "--tasks", "create_strategies", "--model", "hosted_vllm/target", "--limit", "2",
            "--role", "judge=hosted_vllm/judge", **reach(server),
        )  # fmt: skip
        asked = [request for request in server.requests if "\nPath: [" not in request.prompt]
        judged = [request for request in server.requests if "\nPath: [" in request.prompt]
    results = {task["task"]: task for task in json.loads((folder / "results.json").read_text())["tasks"]}
    printed = {
        name: next(m["value"] for m in task["metrics"] if m["name"].startswith("printed"))
        for name, task in results.items()
    }
    distinct = {
        name: next(m["value"] for m in task["metrics"] if m["name"].startswith("distinct"))
        for name, task in results.items()
    }
    assert printed == {
        "create": 4, "create_creative": 4, "create_verbalized": 4, "create_iterate": 7, "create_resample": 12,
    }  # fmt: skip
    assert distinct == {**printed, "create_iterate": 6, "create_resample": 4}
    assert len(asked) == 2 * (1 + 1 + 1 + 2 + 3)
    assert len({request.prompt for request in judged}) == len(judged), "a question was paid twice within a run"
    again = rows(folder, "samples", "create_iterate")[0]
    roles = [message["role"] for call in again["calls"] for message in call["messages"]]
    assert roles == ["user", "assistant", "user"]
    assert again["outcome"] == {"wording": "paper", "strategy": "base", "samples": 1, "rounds": 1, "cut": 0}


def test_a_cut_answer_of_several_is_left_out_and_the_others_count(tmp_path: Path, run: Run) -> None:
    from support.chat_server import Answer, Received

    cut = 0

    def script(request: Received) -> Answer | None:
        nonlocal cut
        if "\nPath: [" in request.prompt or cut:
            return None
        cut += 1
        return Answer('<answer>{"1": [["Pierre', finish_reason="length")

    with serve(script=script) as server:
        folder = run(
            tmp_path, "cut", "--tasks", "create_resample", "--model", "hosted_vllm/target", "--limit", "1",
            "--role", "judge=hosted_vllm/judge", **reach(server),
        )  # fmt: skip
    (sample,) = rows(folder, "samples", "create_resample")
    assert (sample["status"], sample["outcome"]["cut"], len(sample["answers"])) == ("scored", 1, 2)
    (score,) = rows(folder, "scores", "create_resample")
    assert (score["scores"]["printed"], score["scores"]["distinct"]) == (8, 4)


def test_a_second_run_that_reuses_the_first_asks_the_judge_nothing(tmp_path: Path, run: Run) -> None:
    with serve() as server:
        given = (
            "--tasks", "create", "--model", "baseline/ceiling", "--limit", "3",
            "--role", "judge=hosted_vllm/judge",
        )  # fmt: skip
        first = run(tmp_path, "first", *given, **reach(server))
        paid = len(server.requests)
        second = run(tmp_path, "second", *given, "--reuse", "first", **reach(server))
        assert len(server.requests) == paid > 20
    assert metrics(first) == metrics(second)


def test_invalid_repeated_and_untrue_paths_cost_no_more_than_they_must(tmp_path: Path, run: Run) -> None:
    """One question for a path that is not true, none for one that is invalid or repeats another."""
    pierre = [made.path for made in judged_paths() if made.query == "pierre_curie" and made.kind == "ceiling"]
    upper = [[tuple(part.upper() for part in triple) for triple in path] for path in pierre[:2]]
    broken = [list(reversed(path)) for path in pierre[:3]]
    answer = json.dumps({str(i): path for i, path in enumerate([*pierre[:4], *upper, *broken], 1)})
    with ChatServer(answer=lambda request: judge_of(request) if "\nPath: [" in request.prompt else answer) as server:
        data = tmp_path / "one.jsonl"
        query = {"id": "pierre_curie", "query": "q", "entity_a": "Pierre Curie", "rel_b": "award received"}
        data.write_text(json.dumps({**query, "entity_b": "Nobel Prize in Chemistry"}))
        folder = run(
            tmp_path, "few", "--tasks", "create", "--data", f"create={data}", "--model", "hosted_vllm/target",
            "--role", "judge=hosted_vllm/judge", **reach(server),
        )  # fmt: skip
        judged = [request.prompt for request in server.requests if "\nPath: [" in request.prompt]
    (score,) = rows(folder, "scores")
    assert [score["scores"][name] for name in ("printed", "readable", "distinct", "valid")] == [9, 9, 7, 4]
    factuality = [prompt for prompt in judged if "fact-checking expert" in prompt]
    assert len(factuality) == 4 and len(judged) == 4 + score["scores"]["paths"]
    assert all(path_in(prompt)[0][0] == "pierre curie" for prompt in judged)


def test_a_judge_that_gives_no_verdict_is_asked_once_more_and_then_the_sample_is_errored(
    tmp_path: Path, run: Run
) -> None:
    from support.chat_server import Received

    def judge(request: Received) -> str:
        return "Both look fine to me." if "marie curie" in request.prompt else judge_of(request)

    with ChatServer(answer=judge) as server:
        run(
            tmp_path, "prose", "--tasks", "create", "--model", "baseline/ceiling", "--limit", "20",
            "--role", "judge=hosted_vllm/judge", code=1, **reach(server),
        )  # fmt: skip
        asked = [request.prompt for request in server.requests if "'spouse', 'marie curie'" in request.prompt]
    by_doc = {row["doc_id"]: row for row in rows(tmp_path / "prose", "scores")}
    failed = by_doc.pop("pierre_curie")
    assert failed["status"] == "errored" and "no readable verdict on the factuality" in failed["reason"]
    assert {row["status"] for row in by_doc.values()} == {"scored"}
    assert len(asked) == 2
    assert failed["scores"]["printed"] == 8, "what needs no judge is kept"


def test_a_path_without_a_shipped_verdict_is_an_error_with_a_fix(tmp_path: Path, run: Run) -> None:
    with serve() as server:
        run(
            tmp_path, "known", "--tasks", "create", "--model", "hosted_vllm/target", "--limit", "1",
            "--role", "judge=create/shipped", **reach(server),
        )  # fmt: skip
    with ChatServer(answer='{"1": [["Marie Curie", "award received", "Nobel Prize in Physics"]]}') as server:
        data = tmp_path / "own.jsonl"
        query = {"id": "x", "query": "q", "entity_a": "Marie Curie", "rel_b": "award received"}
        data.write_text(json.dumps({**query, "entity_b": "Nobel Prize in Physics"}))
        run(
            tmp_path, "unknown", "--tasks", "create", "--data", f"create={data}", "--model", "hosted_vllm/target",
            "--role", "judge=create/shipped", code=1, **reach(server),
        )  # fmt: skip
    (score,) = rows(tmp_path / "unknown", "scores")
    assert score["status"] == "errored" and "hand-made paths of our own queries only" in score["reason"]


def answered(folder: Path) -> set[str]:
    """The judge's questions whose answers are on disk; a torn last line is none."""
    file = folder / "calls" / "judge.jsonl"
    found = set()
    for line in file.read_text().splitlines() if file.is_file() else ():
        try:
            call = json.loads(line)
        except ValueError:
            continue
        if "reply" in call:
            found.add(call["messages"][-1]["content"])
    return found


def test_killed_while_judging_no_answered_question_is_paid_again(tmp_path: Path, run: Run, minilm: Any) -> None:
    """kill -9 at three moments of judging; then the run goes on to the numbers of an undisturbed one."""
    with serve(latency=0.01) as server:
        given = (
            "--tasks", "create", "--model", "baseline/ceiling", "--limit", "14",
            "--role", "judge=hosted_vllm/judge", "--concurrency", "4",
        )  # fmt: skip
        commands = [(*given, "--output", "killed"), ("resume", "killed"), ("resume", "killed")]
        for number, command in enumerate(commands, 1):
            paid, before = answered(tmp_path / "killed"), len(server.requests)
            server.hold(before + 50)  # on a busy machine the kill may come late
            process = begin(tmp_path, *command, **reach(server))
            server.wait_for(before + 40)
            assert process.kill() == -signal.SIGKILL
            assert not {request.prompt for request in server.requests[before:]} & paid
            assert len(answered(tmp_path / "killed")) >= len(paid) + 20 * min(number, 1)
        server.release()
        paid, before = answered(tmp_path / "killed"), len(server.requests)
        assert invoked(tmp_path, minilm, "resume", "killed", **reach(server)) == 0
        assert not {request.prompt for request in server.requests[before:]} & paid
        whole = run(tmp_path, "whole", *given, **reach(server))
    assert metrics(tmp_path / "killed") == metrics(whole)


def test_a_real_small_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_model: str) -> None:
    """SmolLM2 answers; whatever it says is read, judged and counted."""
    with serve() as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        options = RunOptions(
            output=tmp_path / "small", limit=1, seed=1, generation={"max_tokens": 16},
            roles={"judge": "hosted_vllm/judge"},
        )  # fmt: skip
        folder = creval_run(["create"], small_model, options).folder
    samples = rows(folder, "samples")
    assert len(samples) == 1 and {sample["status"] for sample in samples} <= {"scored", "truncated", "refused"}
    found = metrics(folder)
    assert found["creative_utility@0.9"] is not None and found["creative_utility@0.9"] >= 0


def test_a_dry_run_reckons_with_the_judge(tmp_path: Path) -> None:
    """Two calls a path, twice at most, up to 50 paths in each of three answers; the target is asked three times."""
    from creval_sweeps.estimate import estimate_run

    found = estimate_run(["create_resample"], "baseline/floor", RunOptions(limit=2, roles={"judge": "create/shipped"}))
    target, judge = found.tasks
    assert (target.calls, judge.task, judge.calls) == ((6, 6), "create_resample: judge", (0, 2 * 3 * 50 * 2 * 2))
    assert not [note for note in found.notes if "judge" in note]

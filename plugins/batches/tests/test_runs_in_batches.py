"""Whole runs in batches: waited for, left and collected, judged, over two turns, within a budget, with the cache."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from batched import FAST
from support.batch_server import BatchServer, Plan
from support.chat_server import HttpError, Received
from support.parrot import parrot

from creval.cli.main import invoke
from creval.engine.run import Finished, rescore, resume, run_new
from creval.engine.run_options import Rescoring, RunOptions
from creval.errors import BudgetError, DetachedError, FatalModelError, RunError, UsageError
from creval.runs.folder import RunFolder

MODEL = "hosted_vllm/parrot"
TWICE = """
    class Twice:
        async def run(self, session):
            first = await session.ask(session.prompt())
            again = [*session.prompt(), type(session.prompt()[0])("assistant", first.text),
                     type(session.prompt()[0])("user", f"Once more: {first.text}")]
            session.answer((await session.ask(again)).text)
"""
HOOKS = """
    from creval.plugin import hookimpl

    @hookimpl
    def creval_components(registry):
        registry.add("protocol", "twice", "creval_twice_parts:Twice")
"""
JUDGED = """\
schema: 1
task: judged
version: 1.0.0
title: Judged
dataset: {source: file, file: judged.jsonl, id: id}
prompt: [{role: user, content: "Say {{ word }}"}]
roles:
  judge: {prompts: {rate: [{role: user, content: "Rate {{ answer }} as 3"}]}}
score: {judge: {prompt: rate, scale: [1, 5]}}
metrics: [{name: judge, failed: exclude}]
"""


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches that are looked at without waiting."""
    monkeypatch.setattr("creval_batches.scheduler.Polling", lambda: FAST)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[..., BatchServer]:
    """A server where the model is."""

    def start(*plans: Plan, **more: Any) -> BatchServer:
        server = BatchServer(plans, **{"answer": parrot, **more})
        enter = server.__enter__

        def entered() -> BatchServer:
            enter()
            monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
            return server

        server.start_here = entered  # type: ignore[attr-defined]
        return server

    return start


class At:
    """Lets a server of `serve` begin and end."""

    def __init__(self, server: BatchServer) -> None:
        self.server = server

    def __enter__(self) -> BatchServer:
        return self.server.start_here()  # type: ignore[attr-defined,no-any-return]

    def __exit__(self, *_: object) -> None:
        self.server.__exit__()


def metric(finished: Finished) -> Any:
    return finished.results["tasks"][0]["metrics"][0]["value"]


def samples(folder: Path, task: str = "parrot") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "samples" / f"{task}.jsonl").read_text().splitlines()]


def write_judged(folder: Path, docs: int = 6) -> str:
    rows = "".join(json.dumps({"id": f"d{i}", "word": f"w{i}"}) + "\n" for i in range(docs))
    (folder / "judged.jsonl").write_text(rows)
    (folder / "judged.yaml").write_text(JUDGED)
    return str(folder / "judged.yaml")


def test_a_run_in_batches_equals_one_of_single_calls(make_task, options, serve, tmp_path):
    task = make_task(docs=12, repeats=2)
    with At(serve()) as server:
        batched = run_new([task], MODEL, options(batch=True))
        assert server.sizes == [24]  # more than --concurrency are pending
        assert not server.requests
        single = run_new([task], MODEL, options(output=tmp_path / "single"))
    one, other = batched.results["tasks"][0], single.results["tasks"][0]
    assert one["metrics"] == other["metrics"]
    assert one["counts"] == other["counts"]
    assert one["flags"] == {"batch": 24}
    calls = [call for sample in samples(tmp_path / "run") for call in sample["calls"]]
    assert all(call["reply"]["flags"] == ["batch"] and "latency" in call["reply"] for call in calls)
    notes = [json.loads(line) for line in (tmp_path / "run" / "batches.jsonl").read_text().splitlines()]
    assert [next(key for key in note if key != "batch") for note in notes] == ["model", "file", "id", "ended"]


def test_detached_and_collected(make_task, options, serve, tmp_path):
    task = make_task(docs=8)
    with At(serve()) as server:
        server.held = True
        with pytest.raises(DetachedError, match="8 requests are pending in 1 batch") as left:
            run_new([task], MODEL, options(batch=True, detach=True))
        assert f"creval resume {tmp_path / 'run'}" in str(left.value)
        assert left.value.exit_code == 4
        assert RunFolder.open(tmp_path / "run").read_manifest()["status"] == "detached"
        with pytest.raises(DetachedError):
            resume(tmp_path / "run", detach=True)
        server.held = False
        finished = resume(tmp_path / "run")
    assert metric(finished) == 0.75
    assert server.sizes == [8]
    assert server.paid_twice == []


def test_each_round_of_a_protocol_is_a_batch(make_task, options, serve, install, tmp_path, monkeypatch):
    install("twice", HOOKS, TWICE)
    monkeypatch.setenv("CREVAL_PLUGINS", "twice,batches,judges")
    task = make_task(docs=6, extra="protocol: twice\n")
    with At(serve()) as server:
        with pytest.raises(DetachedError):
            server.held = True
            run_new([task], MODEL, options(batch=True, detach=True))
        server.held = False
        with pytest.raises(DetachedError):  # the first round is collected, the second pending
            resume(tmp_path / "run", detach=True)
        finished = resume(tmp_path / "run")
    assert server.sizes == [6, 6]
    assert server.paid_twice == []
    assert finished.results["tasks"][0]["counts"]["scored"] == 6
    assert all(len(sample["calls"]) == 2 for sample in samples(tmp_path / "run"))


def test_expiry_between_rounds_asks_only_what_is_missing(make_task, options, serve, install, tmp_path, monkeypatch):
    install("twice", HOOKS, TWICE)
    monkeypatch.setenv("CREVAL_PLUGINS", "twice,batches,judges")
    task = make_task(docs=6, extra="protocol: twice\n")
    with At(serve(Plan(end="expired", share=4), Plan(end="expired", share=1))) as server:
        finished = run_new([task], MODEL, options(batch=True))
    assert finished.results["tasks"][0]["counts"]["scored"] == 6
    assert server.paid_twice == []
    assert len(server.billed) == 12


def test_judging_follows_in_batches_of_its_own(options, serve, tmp_path):
    task = write_judged(tmp_path)
    with At(serve()) as server:
        finished = run_new([task], MODEL, options(batch=True, roles={"judge": "hosted_vllm/judge"}))
    assert metric(finished) == 3
    assert server.sizes == [6, 6]
    calls = [json.loads(line) for line in (tmp_path / "run" / "calls" / "judge.jsonl").read_text().splitlines()]
    assert all(call["reply"]["flags"] == ["batch"] for call in calls)


def test_scoring_again_in_batches_detached_and_collected(options, serve, tmp_path):
    task = write_judged(tmp_path)
    with At(serve()) as server:
        run_new([task], MODEL, options(roles={"judge": "hosted_vllm/judge"}))
        assert not server.sizes
        how = Rescoring(roles={"judge": "hosted_vllm/other"}, batch=True, detach=True)
        server.held = True
        with pytest.raises(DetachedError) as left:
            rescore(tmp_path / "run", how)
        assert "creval score" in str(left.value)
        assert "--batch --role judge=hosted_vllm/other" in str(left.value)
        server.held = False
        finished = rescore(tmp_path / "run", Rescoring(roles={"judge": "hosted_vllm/other"}, batch=True))
    assert metric(finished) == 3
    assert '"answer"' not in (tmp_path / "run" / "batches.jsonl").read_text()  # the ledger has them
    assert server.sizes == [6]


def test_an_unreadable_verdict_goes_out_once_more(options, serve, tmp_path):
    def verdict(request: Received) -> str:
        return "none" if request.prompt.startswith("Rate w1 ") else parrot(request)

    with At(serve(answer=verdict)) as server:
        finished = run_new([write_judged(tmp_path)], MODEL, options(batch=True, roles={"judge": "hosted_vllm/judge"}))
    assert server.sizes == [6, 6, 1]
    assert finished.results["tasks"][0]["counts"]["errored"] == 1


def test_what_the_cache_holds_is_not_sent(make_task, options, serve, tmp_path):
    task = make_task(docs=8)
    with At(serve()) as server:
        run_new([task], MODEL, options(batch=True, cache=True, limit="first:5"))
        run_new([task], MODEL, options(batch=True, cache=True, output=tmp_path / "second"))
    assert server.sizes == [5, 3]


def test_the_limit_of_calls_holds_before_anything_is_sent(make_task, options, serve, tmp_path):
    task = make_task(docs=8)
    with At(serve()) as server:
        finished = run_new([task], MODEL, options(batch=True, max_calls=5))
        assert isinstance(finished.budget, BudgetError)
        assert server.sizes == [5]
        whole = resume(tmp_path / "run", max_calls=8)
    assert server.sizes == [5, 3]
    assert whole.budget is None
    assert metric(whole) == 0.75


def test_answers_that_were_paid_before_need_no_budget(make_task, options, serve, install, tmp_path, monkeypatch):
    """Five of six first rounds are answered and paid; the run stops there, and goes on under the same limit."""
    install("twice", HOOKS, TWICE)
    monkeypatch.setenv("CREVAL_PLUGINS", "twice,batches,judges")
    task = make_task(docs=6, extra="protocol: twice\n")
    with At(serve(Plan(end="cancelled", share=5))) as server:
        with pytest.raises(RunError, match="was cancelled"):
            run_new([task], MODEL, options(batch=True, max_calls=12))
        finished = resume(tmp_path / "run")
    assert finished.budget is None
    assert sum(server.billed.values()) == 12
    assert server.paid_twice == []


def test_a_provider_without_batches_is_refused_before_the_first_call(make_task, options, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", "made-up")
    for model in ("openrouter/openai/gpt-5-mini", "ollama_chat/llama3.2", "litellm/cohere/command"):
        with pytest.raises(UsageError, match="cannot be called in batches") as refused:
            run_new([make_task()], model, options(batch=True))
        assert "Leave --batch out" in str(refused.value)
    assert not (tmp_path / "run").exists()


def test_a_server_without_batches_leaves_no_run_behind(make_task, options, server, tmp_path, monkeypatch):
    monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
    with pytest.raises(UsageError, match="the server has no batches"):
        run_new([make_task()], MODEL, options(batch=True))
    assert not (tmp_path / "run").exists()


def test_local_players_need_no_batches(make_task, options, serve, tmp_path):
    (tmp_path / "answers.jsonl").write_text(
        "".join(json.dumps({"task": "judged", "doc": f"d{i}", "answers": [f"w{i}"]}) + "\n" for i in range(6))
    )
    with At(serve()) as server:
        task = write_judged(tmp_path)
        given = options(batch=True, roles={"judge": "hosted_vllm/judge"})
        assert metric(run_new([task], "replay/answers.jsonl", given)) == 3
    assert server.sizes == [6]


def test_a_wrong_key_ends_the_run_with_its_error(make_task, options, serve):
    wrong = HttpError(401, {"message": "Incorrect API key provided"})
    with At(serve(Plan(uploads=[wrong]))), pytest.raises(FatalModelError, match="Incorrect API key"):
        run_new([make_task()], MODEL, options(batch=True))


def test_texts_by_reference_are_in_no_file(options, serve, tmp_path):
    words = [f"secretword{number}" for number in range(4)]
    (tmp_path / "hidden.jsonl").write_text(
        "".join(json.dumps({"id": f"d{i}", "word": word, "target": word}) + "\n" for i, word in enumerate(words))
    )
    (tmp_path / "hidden.yaml").write_text(
        "schema: 1\ntask: hidden\nversion: 1.0.0\ntitle: Hidden\nstore: reference\n"
        "dataset: {source: file, file: hidden.jsonl, id: id}\n"
        'prompt: [{role: user, content: "Please repeat this rather long question about the word {{ word }}"}]\n'
        "score: exact_match\nmetrics: [{name: right, from: exact_match, aggregate: mean, failed: zero}]\n"
    )
    with At(serve(Plan(end="cancelled", share=3), answer=lambda request: "fine")) as server:
        with pytest.raises(RunError, match="was cancelled"):
            run_new([str(tmp_path / "hidden.yaml")], MODEL, options(batch=True))
        journal = (tmp_path / "run" / "batches.jsonl").read_text()
        assert '"answer"' in journal
        assert "rather long question" not in journal
        assert not any(word in journal for word in words)
        resume(tmp_path / "run")
    assert server.sizes == [4, 1]
    assert server.paid_twice == []


def test_smaller_batches_go_out_side_by_side(make_task, options, serve):
    with At(serve()) as server:
        finished = run_new([make_task(docs=12)], MODEL, options(batch=True, batch_size=5, concurrency=12))
    assert metric(finished) == 0.75
    assert sorted(server.sizes) == [2, 5, 5]


def test_options_that_do_not_fit_are_refused():
    with pytest.raises(UsageError, match="no batches to detach from"):
        RunOptions(detach=True)
    with pytest.raises(UsageError, match="50,001 is not a valid batch size"):
        RunOptions(batch=True, batch_size=50_001)


def test_a_sweep_leaves_all_its_batches_and_the_same_command_collects(make_task, serve, tmp_path, capsys):
    task = make_task(docs=4)
    (tmp_path / "sweep.yaml").write_text(
        f"tasks: [{task}]\nmodels: [hosted_vllm/one, hosted_vllm/two]\nbatch: true\noutput: runs\n"
    )
    with At(serve()) as server:
        server.held = True
        assert invoke(["run", "sweep.yaml", "--detach"]) == 4
        assert "Collect them with: creval resume runs/hosted_vllm_one" in capsys.readouterr().err
        server.held = False
        assert invoke(["run", "sweep.yaml"]) == 0
    assert server.sizes == [4, 4]
    assert server.paid_twice == []
    assert "detach" not in (tmp_path / "runs" / "sweep.yaml").read_text()


def test_the_command_says_what_is_on_its_way_and_how_to_collect_it(make_task, serve, tmp_path, capsys, monkeypatch):
    live_runs = pytest.importorskip("creval_page.live_runs")
    live = []

    def look():
        with urllib.request.urlopen(f"{capsys.readouterr().out.strip()}state") as state:
            live.extend(json.load(state)["runs"])
        raise KeyboardInterrupt

    monkeypatch.setattr("creval_page.cli.wait_for_interrupt", look)
    task = make_task(docs=4)
    with At(serve()) as server:
        server.held = True
        given = ["--tasks", task, "--model", MODEL, "--batch", "--detach", "--output", "run"]
        assert invoke(given) == 4
        said = capsys.readouterr().err
        assert "1 batch pending: 0 of 4" in said
        assert said.endswith("4 requests are pending in 1 batch\nCollect them with: creval resume run\n")
        assert "error" not in said
        assert invoke(["view", "--live", "run", "--no-open"]) == 0
        assert invoke(["resume", "run", "--detach"]) == 4
        server.held = False
        assert invoke(["resume", "run"]) == 0
    assert server.sizes == [4]
    live.extend(live_runs.LiveRuns([Path("run")]).state()["runs"])
    shown = [(one["status"], one["made"], one["planned"], one["batches"]) for one in live]
    assert shown == [("detached", 0, 4, [1, 4]), ("done", 4, 4, None)]
    assert live[0]["resume"] == "creval resume run"


def test_a_damaged_book_is_named(make_task, options, serve, tmp_path):
    with At(serve()) as server:
        server.held = True
        with pytest.raises(DetachedError):
            run_new([make_task(docs=2)], MODEL, options(batch=True, detach=True))
        with (tmp_path / "run" / "batches.jsonl").open("a") as journal:
            journal.write('{"nothing": 1}\n')
        with pytest.raises(RunError, match="a line is not a record of a batch"):
            resume(tmp_path / "run")


def test_a_batch_cancelled_while_nobody_looked_is_asked_again(make_task, options, serve, tmp_path):
    with At(serve()) as server:
        server.held = True
        with pytest.raises(DetachedError):
            run_new([make_task(docs=4)], MODEL, options(batch=True, detach=True))
        address = f"{server.url}/batches/batch_0/cancel"
        with urllib.request.urlopen(urllib.request.Request(address, method="POST")) as said:
            assert json.load(said)["status"] == "cancelled"
        server.held = False
        assert metric(resume(tmp_path / "run")) == 0.75
    assert server.sizes == [4, 4]
    assert server.paid_twice == []

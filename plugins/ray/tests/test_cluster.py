"""Runs on a cluster: the same results as here, whatever is lost on the way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer
from support.commands import creval
from support.parrot import parrot

from creval import RunOptions, RunResult, run
from creval.plugin import UsageError
from creval_ray.pool import WorkerPool

COUNT = 120
KEY = "sk-canary-8f14e45fceea167a"
OPTIONS = {"workers": "2", "env": "CREVAL_CACHE"}


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[WorkerPool]:
    """The pools of this test's runs."""
    found: list[WorkerPool] = []
    begin = WorkerPool.__init__

    def noted(self: WorkerPool, *given: Any) -> None:
        begin(self, *given)
        found.append(self)

    monkeypatch.setattr(WorkerPool, "__init__", noted)
    return found


def records(folder: Path, kind: str) -> list[dict[str, Any]]:
    """The lines of a run, without times; every doc is there once."""
    lines = [json.loads(line) for file in sorted((folder / kind).glob("*.jsonl")) for line in file.open()]
    for line in lines:
        line.pop("started", None)
        line.pop("seconds", None)
        for call in line.get("calls", ()):
            call.get("reply", {}).pop("latency", None)
    keys = [(line["doc_id"], line["condition"], line["repeat"]) for line in lines]
    assert len(keys) == len(set(keys)), "a sample is doubled"
    return sorted(lines, key=lambda line: (line["doc_id"], line["condition"], line["repeat"]))


def assert_same(there: RunResult, here: RunResult) -> None:
    """No sample lost, none doubled, all numbers the same."""
    for kind in ("samples", "scores"):
        assert records(there.folder, kind) == records(here.folder, kind)
    assert there.results["tasks"] == here.results["tasks"]


class At:
    """An observer that does something when so many samples have been written."""

    def __init__(self, **when: Callable[[], None]) -> None:
        self._when = {int(name[1:]): do for name, do in when.items()}
        self._count = 0

    def on_sample(self, sample: Any, stats: Any) -> None:
        self._count += 1
        if self._count in self._when:
            self._when[self._count]()


def pair(words: Any, raylets: Any, observer: Any = None, **given: Any) -> tuple[RunResult, RunResult]:
    """One run here and one there."""
    task, model = words(COUNT)
    here = run([task], model, RunOptions(output=Path("here"), **given))
    options = RunOptions(output=Path("there"), executor=raylets.spec, executor_options=OPTIONS, concurrency=8, **given)
    return run([task], model, options, observer), here


def test_the_same_results_as_here(words, raylets, pools) -> None:
    there, here = pair(words, raylets)
    assert_same(there, here)
    assert raylets.spec.startswith("ray://127.0.0.1:")
    manifest = json.loads((there.folder / "run.json").read_text())
    assert manifest["attempts"][0]["models"]["target"]["calls"] == COUNT
    assert len(pools) == 1


def test_a_worker_killed_in_the_middle(words, raylets, pools) -> None:
    def kill() -> None:
        os.kill(pools[0].workers[0].pid, signal.SIGKILL)

    there, here = pair(words, raylets, At(n20=kill, n60=kill))
    assert_same(there, here)


def test_a_slow_worker_gets_less_and_nothing_is_asked_twice(words, raylets, pools) -> None:
    """A stopped worker keeps what it has; the other one makes all the rest."""
    stopped: list[int] = []

    def stop() -> None:
        stopped.append(pools[0].workers[0].pid)
        os.kill(stopped[0], signal.SIGSTOP)

    def go_on() -> None:
        os.kill(stopped[0], signal.SIGCONT)

    there, here = pair(words, raylets, At(n20=stop, **{f"n{COUNT - 8}": go_on}))
    assert_same(there, here)
    assert pools[0].workers == [] or all(not worker.is_lost for worker in pools[0].workers)


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a command; what is left of it ends with the test."""
    started = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        words = [sys.executable, "-m", "creval", *arguments]
        started.append(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def asking(server: ChatServer, task: str, *executor: str) -> list[str]:
    """The words of a run that asks the server's model on an executor."""
    command = ["--tasks", task, "--model", "hosted_vllm/m", "--base-url", server.url, "--output", "run"]
    return [*command, "--executor", *executor]


def wait_for_samples(process: subprocess.Popen[str], count: int) -> Path:
    """Wait until a run has written so many samples, and return their file; the server holds the others."""
    file = Path("run/samples/words.jsonl")
    while process.poll() is None and not (file.exists() and file.read_bytes().count(b"\n") >= count):
        time.sleep(0.05)
    assert process.poll() is None and file.read_bytes().count(b"\n") < COUNT
    return file


def test_a_killed_command_is_resumed(words, raylets, command) -> None:
    """A run killed in the middle is resumed on the cluster."""
    task, _ = words(COUNT)
    with ChatServer(answer=parrot, held_after=COUNT // 2) as server:
        given = ["--executor-option", "workers=2", "--executor-option", "env=CREVAL_CACHE"]
        process = command(*asking(server, task, raylets.spec, *given))
        wait_for_samples(process, COUNT // 4)
        process.kill()
        process.communicate()
        server.release()
        done = command("resume", "run")  # by its own executor
        assert done.communicate()[0] and done.returncode == 0
        here = run([task], "hosted_vllm/m", RunOptions(output=Path("here"), base_url=server.url))
    assert records(Path("run"), "samples") == records(here.folder, "samples")
    assert json.loads(Path("run/results.json").read_text())["tasks"] == here.results["tasks"]


def test_keys_reach_workers_and_stand_nowhere(words, raylets, monkeypatch) -> None:
    """The workers' calls carry the key; neither the run folder nor anything that Ray writes does."""
    task, _ = words(8)
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", KEY)
    with ChatServer(answer=parrot) as server:
        options = {**OPTIONS, "env": "HOSTED_VLLM_API_KEY,CREVAL_CACHE"}
        given = RunOptions(
            base_url=f"{server.url}?token={KEY}", output=Path("there"), executor=raylets.spec, executor_options=options
        )
        result = run([task], "hosted_vllm/m", given)
        assert result.status == "done" and len(server.requests) == 8
        assert {request.headers["Authorization"] for request in server.requests} == {f"Bearer {KEY}"}
        assert all(KEY in request.path for request in server.requests)
    looked = 0
    for place in (raylets.folder, Path("there")):
        for file in place.rglob("*"):
            if file.is_file():
                looked += 1
                assert KEY.encode() not in file.read_bytes(), file
    assert looked > 20


def test_a_worker_killed_while_it_scores_pays_no_verdict_twice(raylets, pools, monkeypatch) -> None:
    """Programs in the sandbox and a judge: what was lost is scored anew, and the judge's answers are there already."""
    if shutil.which("bwrap") is None:
        pytest.skip("no bubblewrap")

    class Kill:
        def on_scored(self, count: int) -> None:
            if count and pools[0].workers and not killed:
                killed.append(pools[0].workers[0].pid)
                os.kill(killed[0], signal.SIGKILL)

    killed: list[int] = []
    with ChatServer(answer="- for loop") as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)  # here alone: the run itself asks the judge
        given: dict[str, Any] = {"roles": {"augmenter": "hosted_vllm/m"}, "allow_code_execution": True}
        here = run(["neocoder_own_state0"], "baseline/ceiling", RunOptions(output=Path("here"), **given))
        asked = len(server.requests)
        options = {**OPTIONS, "batch": "2"}
        there = RunOptions(output=Path("there"), executor=raylets.spec, executor_options=options, **given)
        result = run(["neocoder_own_state0"], "baseline/ceiling", there, Kill())
        assert asked > 5 and len(server.requests) == 2 * asked
    assert killed
    assert_same(result, here)
    journal = [json.loads(line) for line in Path("there/calls/augmenter.jsonl").read_text().splitlines()]
    assert len({line["key"] for line in journal}) == len(journal) == asked


def test_a_seeded_model_in_the_process_says_the_same_there(words, raylets) -> None:
    pytest.importorskip("creval_embedded")
    task, _ = words(3)
    here = run([task], "embedded/smollm2", RunOptions(output=Path("here"), seed=3))
    options = RunOptions(output=Path("there"), seed=3, executor=raylets.spec, executor_options=OPTIONS)
    there = run([task], "embedded/smollm2", options)
    assert_same(there, here)
    said = [record["calls"][0]["reply"]["completions"][0]["text"] for record in records(there.folder, "samples")]
    assert len(said) == 3 and all(said)


def test_what_needs_a_gpu_where_there_is_none_is_one_clear_error(words, raylets) -> None:
    task, model = words(4)
    Path(task).write_text(Path(task).read_text() + "needs: {gpu: 1}\n")
    options = RunOptions(output=Path("there"), executor=raylets.spec, executor_options=OPTIONS)
    with pytest.raises(UsageError, match="'words' needs 1 GPU on one machine, but the cluster has 0 in total"):
        run([task], model, options)
    assert not Path("there").exists()
    node = raylets.add(num_cpus=1, num_gpus=1)
    try:
        result = run([task], model, RunOptions(output=Path("there"), executor=raylets.spec, executor_options=OPTIONS))
        assert result.results["tasks"][0]["counts"]["scored"] == 4
    finally:
        raylets.lose(node)


def test_a_machine_lost_in_the_middle(words, raylets, pools) -> None:
    """One machine and its workers are gone from one moment to the next."""
    node = raylets.add(num_cpus=2)
    given = {**OPTIONS, "workers": "6"}
    task, model = words(COUNT)
    here = run([task], model, RunOptions(output=Path("here")))
    options = RunOptions(output=Path("there"), executor=raylets.spec, executor_options=given, concurrency=8)
    there = run([task], model, options, At(n20=lambda: raylets.lose(node)))
    assert_same(there, here)


def test_a_cluster_of_this_machine_ends_in_order(words, raylets, command) -> None:
    """`--executor ray` starts its own; Ctrl-C ends it with the run, and the local loop goes on."""
    task, _ = words(COUNT)
    with ChatServer(answer=parrot, held_after=COUNT // 2) as server:
        process = command(*asking(server, task, "ray"))
        file = wait_for_samples(process, COUNT // 4)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate()
        assert process.returncode == 130 and "Resume with: creval resume run" in said, said
        begun = file.read_bytes().count(b"\n")
        assert COUNT // 4 <= begun < COUNT
        manifest = json.loads(Path("run/run.json").read_text())
        assert manifest["attempts"][0]["status"] == "interrupted" and manifest["options"]["executor"] == "ray"
        server.release()
        resumed = creval(Path.cwd(), "resume", "run", "--executor", "local")
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(Path("run/results.json").read_text())["tasks"][0]["counts"]["scored"] == COUNT

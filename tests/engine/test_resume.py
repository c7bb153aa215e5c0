"""Runs that are interrupted, go on, are scored again; two processes; damaged files; a full disk."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
from support.chat_server import ChatServer, Hang, HttpError, Received
from support.parrot import parrot

import creval
from creval.data.dataset import Dataset
from creval.engine.run import rescore, resume, run_new
from creval.errors import RunError
from creval.runs import jsonl
from creval.runs.jsonl import Line, dump_line, read_lines

MODEL = "hosted_vllm/parrot"
ROOT = Path(creval.__file__).resolve().parents[1]


def keys(folder: Path, kind: str = "samples") -> list[tuple[str, int]]:
    return sorted((r["doc_id"], r["repeat"]) for r in read_lines(folder / kind / "parrot.jsonl"))


def results(folder: Path) -> dict:
    """What results.json says, but for the name of the folder."""
    return json.loads((folder / "results.json").read_text("utf-8")) | {"run": ""}


def test_errored_samples_are_made_again_and_stand_once(make_task, options):
    failing = {"word1", "word5"}

    def script(request: Received) -> HttpError | None:
        return HttpError(500) if parrot(request) in failing else None

    with ChatServer(script, answer=parrot) as server:
        first = creval.run([make_task()], MODEL, options(base_url=server.url, max_retries=0))
        assert first.results["tasks"][0]["counts"]["errored"] == 2
        asked = len(server.requests)
        failing.clear()
        finished = resume(first.folder)
        assert [parrot(request) for request in server.requests[asked:]] == ["word1", "word5"]
    assert finished.results["tasks"][0]["counts"]["scored"] == 8
    assert keys(first.folder) == keys(first.folder, "scores") == [(f"d{i}", 0) for i in range(8)]
    assert finished.results["tasks"][0]["metrics"][0]["value"] == 0.75


def test_the_budget_stops_a_run_and_a_higher_one_continues(make_task, server, options):
    result = creval.run([make_task(docs=20)], MODEL, options(base_url=server.url, max_calls=7))
    assert len(server.requests) == 7
    assert result.status == "budget"
    assert result.exit_status() == 3
    counts = result.results["tasks"][0]["counts"]
    assert (counts["scored"], counts["skipped"]) == (7, 13)
    assert result.metrics("parrot")["right"]["n"] == 7
    again = resume(result.folder)
    assert len(server.requests) == 7
    assert again.budget is not None
    more = resume(result.folder, max_calls=20)
    assert len(server.requests) == 20
    assert more.budget is None
    assert more.results["tasks"][0]["counts"]["scored"] == 20


def test_a_torn_line_is_dropped_and_its_sample_made_again(make_task, server, options):
    folder = creval.run([make_task()], MODEL, options(base_url=server.url)).folder
    whole = results(folder)
    for kind in ("samples", "scores"):
        path = folder / kind / "parrot.jsonl"
        data = path.read_bytes()
        path.write_bytes(data[: data[:-1].rfind(b"\n") + 20])
    resume(folder)
    assert len(server.requests) == 9
    assert keys(folder) == keys(folder, "scores") == [(f"d{i}", 0) for i in range(8)]
    assert results(folder)["tasks"][0]["metrics"] == whole["tasks"][0]["metrics"]


def test_a_damaged_line_in_the_middle_is_named(make_task, server, options):
    folder = creval.run([make_task()], MODEL, options(base_url=server.url)).folder
    path = folder / "samples" / "parrot.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"{broken\n", *lines[3:]]))
    with pytest.raises(RunError, match="a damaged line") as caught:
        resume(folder)
    assert caught.value.where == f"{path}:4"


def test_a_changed_task_is_not_resumed(make_task, server, options):
    task = make_task()
    folder = creval.run([task], MODEL, options(base_url=server.url)).folder
    make_task(repeats=2)
    with pytest.raises(RunError, match="the task of 'parrot' changed"):
        resume(folder)
    make_task(docs=9)
    with pytest.raises(RunError, match="the data of 'parrot' changed"):
        resume(folder)


# --- scoring again ----------------------------------------------------------------------------------


def test_scoring_again_follows_the_task_file_and_asks_nobody(make_task, server, options, tmp_path):
    folder = creval.run([make_task(docs=8)], MODEL, options(base_url=server.url)).folder
    before = (folder / "samples" / "parrot.jsonl").read_bytes()
    file = tmp_path / "parrot.yaml"
    text = file.read_text("utf-8").replace("score: exact_match", "parse: {regex: '([a-z]+)'}\nscore: exact_match")
    file.write_text(text, "utf-8")
    finished = rescore(folder)
    assert finished.results["tasks"][0]["metrics"][0]["value"] == 0
    assert len(server.requests) == 8
    assert (folder / "samples" / "parrot.jsonl").read_bytes() == before
    assert json.loads((folder / "run.json").read_text("utf-8"))["rescored"][0]["tasks"]["parrot"]


@pytest.mark.parametrize("change", [("Say {{ word }}", "Please say {{ word }}"), ("max_tokens: 16", "max_tokens: 17")])
def test_answers_to_another_question_are_not_scored(make_task, server, options, tmp_path, change):
    folder = creval.run([make_task()], MODEL, options(base_url=server.url)).folder
    file = tmp_path / "parrot.yaml"
    file.write_text(file.read_text("utf-8").replace(*change), "utf-8")
    with pytest.raises(RunError, match="changed in its requests"):
        rescore(folder)


def test_scoring_again_after_a_budget_stop_counts_the_rest_as_skipped(make_task, server, options):
    folder = creval.run([make_task(docs=20)], MODEL, options(base_url=server.url, max_calls=7)).folder
    assert rescore(folder).results == results(folder) | {"run": folder.name}
    assert results(folder)["tasks"][0]["counts"]["skipped"] == 13


# --- two processes ----------------------------------------------------------------------------------

PROGRAM = """
import sys
import threading
import time
from pathlib import Path
from creval.engine.run_options import RunOptions
from creval.engine.run import resume, run_new
from creval.errors import RunError
task, url, output, how = sys.argv[1:]
try:
    if how == "new":
        options = RunOptions(output=Path(output), base_url=url, concurrency=4, seed=1)
        run_new([task], "hosted_vllm/parrot", options)
    else:
        resume(Path(output))
except RunError as error:
    print(error)
    sys.exit(9)
"""


def process(task: str, url: str, output: Path, how: str = "new") -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM, task, url, str(output), how]
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE)


def test_a_second_process_is_refused_and_a_dead_one_leaves_no_lock(make_task, tmp_path):
    """The first process waits for its answers until it is killed."""
    asked = threading.Event()
    free = threading.Event()

    def answer(request: Received) -> Hang | None:
        asked.set()
        return None if free.is_set() else Hang()

    task = make_task()
    with ChatServer(answer, answer=parrot) as server:
        first = process(task, server.url, tmp_path / "run")
        try:
            assert asked.wait(60)
            second = process(task, server.url, tmp_path / "run", "resume")
            said = second.communicate()[0]
            assert second.returncode == 9
            assert f"in use by another process (process id {first.pid})" in said
            with pytest.raises(RunError, match="in use"):
                rescore(tmp_path / "run")
        finally:
            first.send_signal(signal.SIGKILL)
            first.communicate()
        free.set()
        finished = resume(tmp_path / "run")
    assert finished.results["tasks"][0]["counts"]["scored"] == 8


# --- kill -9 ----------------------------------------------------------------------------------------


NURSERY = """
import os, sys
from pathlib import Path
import creval.engine.run, creval.models.providers.chat_provider, creval.scoring.metric_estimate
from creval.engine.run_options import RunOptions
from creval.engine.run import resume, run_new
task, url, output = sys.argv[1:]
print("ready", flush=True)
for how in sys.stdin:
    child = os.fork()
    if child == 0:
        if how.strip() == "new":
            run_new([task], "hosted_vllm/parrot", RunOptions(output=Path(output), base_url=url, concurrency=4, seed=1))
        else:
            resume(Path(output))
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Starts processes on demand that have imported everything already."""


@pytest.mark.kills
def test_killed_at_twenty_moments_a_run_loses_and_doubles_nothing(make_task, tmp_path, options):
    """kill -9 after some number of answers, drawn at random, 20 times; the end must equal an undisturbed run.

    The server counts the requests: a sample is asked again only where it was in flight at a kill.
    """
    task = make_task(docs=70, repeats=4, conditions="conditions: {temperature: [0.5, 1.5]}")
    draw = random.Random(4)
    output = tmp_path / "killed"
    kills = 0
    with ChatServer(answer=parrot, latency=0.002) as server:
        command = [sys.executable, "-c", NURSERY, task, server.url, str(output)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, **pipes) as nursery:
            assert nursery.stdout.readline() == "ready\n"
            while kills < 20:
                target = len(server.requests) + draw.randint(0, 38)
                server.hold(target + 8)  # on a busy machine the kill may come late
                nursery.stdin.write("resume\n" if (output / "run.json").exists() else "new\n")
                child = int(nursery.stdout.readline())
                server.wait_for(target)
                os.kill(child, signal.SIGKILL)
                assert int(nursery.stdout.readline()) == -signal.SIGKILL
                kills += 1
                held = keys_with_condition(output)
                assert len(held) == len(set(held)), f"a sample occurs twice after kill {kills}"
            nursery.stdin.close()
        server.release()
        resume(output)
        asked = len(server.requests)
        undisturbed = run_new([task], MODEL, options(base_url=server.url, output=tmp_path / "whole"))
    assert asked <= 560 + 20 * 4
    held = keys_with_condition(output)
    assert len(held) == 560
    assert held == keys_with_condition(tmp_path / "whole")
    assert normal(results(output)) == normal(results(tmp_path / "whole"))
    assert undisturbed.results["tasks"][0]["counts"]["scored"] == 560
    replayed = run_new([task], f"replay/{output}", options(output=tmp_path / "replayed"))
    assert replayed.results["tasks"][0]["metrics"] == undisturbed.results["tasks"][0]["metrics"]


def keys_with_condition(folder: Path) -> list[tuple[str, str, int]]:
    return sorted((r["doc_id"], r["condition"], r["repeat"]) for r in read_lines(folder / "samples" / "parrot.jsonl"))


def normal(data: dict) -> dict:
    return json.loads(json.dumps(data, sort_keys=True))


def test_interrupted_by_the_user_a_run_can_be_resumed(make_task, server, options, monkeypatch):
    task = make_task(docs=30)
    count = 0

    class Stop:
        def on_sample(self, sample, stats):
            nonlocal count
            count += 1
            if count == 5:
                os.kill(os.getpid(), signal.SIGINT)

        def on_phase(self, *given):
            pass

        on_scored = on_finish = on_phase

    with pytest.raises(KeyboardInterrupt) as stopped:
        creval.run([task], MODEL, options(base_url=server.url, concurrency=2), Stop())
    folder = options().output
    assert any(f"creval resume {folder}" in note for note in stopped.value.__notes__)
    assert json.loads((folder / "run.json").read_text("utf-8"))["status"] == "interrupted"
    assert 5 <= len(keys(folder)) < 30
    assert resume(folder).results["tasks"][0]["counts"]["scored"] == 30


STUBBORN = """
    import asyncio, os, signal
    from creval.types.components import Score

    class Stubborn:
        calls = []

        async def _until_cancelled(self):
            self.calls.append(self)
            if len(self.calls) == 3:
                os.kill(os.getpid(), signal.SIGINT)
            try:
                await asyncio.sleep(60 if len(self.calls) <= 3 else 0)
            except asyncio.CancelledError:
                pass

        async def run(self, session):
            await self._until_cancelled()
            session.answer("word0")

        async def score(self, items, context):
            await self._until_cancelled()
            return [Score({"stubborn": 1.0}) for _ in items]
"""
STUBBORN_HOOKS = """
    from creval.plugins import hookimpl

    @hookimpl
    def creval_components(registry):
        registry.add("protocol", "stubborn", "creval_stubborn_parts:Stubborn")
        registry.add("scorer", "stubborn", "creval_stubborn_parts:Stubborn", produces=("stubborn",), waits=True)
"""


@pytest.mark.parametrize("at", ["protocol", "scorer"])
def test_a_component_that_ignores_the_cancellation_ends_too(make_task, server, options, install, at):
    install("stubborn", STUBBORN_HOOKS, STUBBORN)
    task = Path(make_task(docs=30, extra="protocol: stubborn\n" if at == "protocol" else ""))
    if at == "scorer":
        task.write_text(task.read_text("utf-8").replace("exact_match", "stubborn"), "utf-8")
    with pytest.raises(KeyboardInterrupt):
        creval.run([str(task)], MODEL, options(base_url=server.url, concurrency=3))
    kind = "samples" if at == "protocol" else "scores"
    assert len(keys(options().output, kind)) == 3


CANCELLING = """
    import asyncio
    from creval.types.components import Score

    class Stubborn:
        calls = []

        async def _sometimes_cancelled(self):
            self.calls.append(self)
            if len(self.calls) % 3 == 0:
                raise asyncio.CancelledError

        async def run(self, session):
            await self._sometimes_cancelled()
            session.answer("word0")

        async def score(self, items, context):
            await self._sometimes_cancelled()
            return [Score({"stubborn": 1.0}) for _ in items]
"""


@pytest.mark.parametrize("at", ["protocol", "scorer"])
def test_a_component_whose_own_work_is_cancelled_costs_that_sample_alone(make_task, server, options, install, at):
    """As by a library that it uses. It may pass, so that the sample is tried again when the run is resumed."""
    install("stubborn", STUBBORN_HOOKS, CANCELLING)
    task = Path(make_task(docs=12, extra="protocol: stubborn\n" if at == "protocol" else ""))
    if at == "scorer":
        task.write_text(task.read_text("utf-8").replace("exact_match", "stubborn"), "utf-8")
    first = creval.run([str(task)], MODEL, options(base_url=server.url, concurrency=3))
    counts = first.results["tasks"][0]["counts"]
    assert (counts["scored"], counts["errored"], counts["skipped"]) == (8, 4, 0)
    assert resume(first.folder).results["tasks"][0]["counts"]["errored"] == 1


# --- a full disk ------------------------------------------------------------------------------------


def test_a_full_disk_stops_cleanly_and_the_run_can_be_resumed(make_task, server, options, monkeypatch):
    """Writes fail with ENOSPC from some moment on, the first of them after half a line."""
    import errno

    real, state = os.write, {"left": 3}

    def write(descriptor: int, data: bytes) -> int:
        if not str(Path(f"/proc/self/fd/{descriptor}").readlink()).endswith("samples/parrot.jsonl"):
            return real(descriptor, data)
        state["left"] -= 1
        if state["left"] == 0:
            return real(descriptor, data[: len(data) // 2])
        if state["left"] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data)

    monkeypatch.setattr(jsonl.os, "write", write)
    with pytest.raises(RunError, match="the disk is full") as caught:
        creval.run([make_task()], MODEL, options(base_url=server.url, concurrency=1))
    monkeypatch.undo()
    folder = options().output
    assert f"creval resume {folder}" in str(caught.value)
    data = (folder / "samples" / "parrot.jsonl").read_bytes()
    assert data.count(b"\n") == 2
    assert data.endswith(b"\n")


def test_an_observer_that_raises_stops_nothing(make_task, server, options, caplog):
    class Broken:
        def on_phase(self, *given):
            raise ValueError("no screen")

    result = creval.run([make_task()], MODEL, options(base_url=server.url), Broken())
    assert result.results["tasks"][0]["counts"]["scored"] == 8
    assert [record.message for record in caplog.records] == [
        "an observer failed and is left out from here on: Broken.on_phase: ValueError: no screen"
    ]


def test_a_run_inside_a_running_event_loop(make_task, server, options):
    """As in a notebook."""
    import asyncio

    async def cell():
        return creval.run([make_task()], MODEL, options(base_url=server.url))

    assert asyncio.run(cell()).metrics("parrot")["right"]["value"] == 0.75


@pytest.mark.parametrize("at", ["start", "wait"])
def test_an_interrupt_inside_a_running_event_loop_ends_the_work_in_order(monkeypatch, at):
    """As the stop button of a notebook does it: SIGINT to the thread that waits, or that has just begun the work."""
    import asyncio

    from creval.engine import event_loop

    seen, begun = [], threading.Event()

    class Interrupted(event_loop.ThreadPoolExecutor):
        def submit(self, *given):
            future = super().submit(*given)
            if at == "start":
                begun.wait()
                signal.raise_signal(signal.SIGINT)
            return future

    def stack(frame):
        return [] if frame is None else [frame.f_code, *stack(frame.f_back)]

    async def work():
        begun.set()
        waiting = threading.main_thread().ident
        try:
            while at == "wait" and event_loop.Future.result.__code__ not in stack(sys._current_frames()[waiting])[1:]:
                await asyncio.sleep(0)
            if at == "wait":
                signal.pthread_kill(waiting, signal.SIGINT)
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def cell():
        event_loop.drive(work())

    monkeypatch.setattr(event_loop, "ThreadPoolExecutor", Interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    loop = asyncio.new_event_loop()
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(cell())
    finally:
        signal.signal(signal.SIGINT, before)
        loop.close()
    assert seen == ["cancelled"]


def test_an_interrupt_that_comes_as_the_work_ends_stops_what_would_follow():
    """As between the runs of a sweep: the first has all its results, and the second does not begin."""
    from creval.engine.event_loop import drive
    from creval.interruption import CURRENT, Interruption

    begun = []

    async def work(number):
        begun.append(number)
        if number == 1:
            interruption.stop(signal.SIGINT)
        return number

    interruption = Interruption()
    token = CURRENT.set(interruption)
    try:
        assert drive(work(1)) == 1
        with pytest.raises(KeyboardInterrupt):
            drive(work(2))
    finally:
        CURRENT.reset(token)
    assert begun == [1]


def test_lines_keep_whatever_a_model_says():
    record = {"text": "\ud83d lone, \u2028 separator, \x00 nul, \U0001f600"}
    line = dump_line(record)
    assert line.count(b"\n") == 1
    assert json.loads(line) == record


def test_resuming_reads_each_saved_row_as_often_as_it_must(make_task, server, options, monkeypatch):
    """A finished run: every sample and every score once (checked, counted and aggregated), and no doc after the first
    reading of the data. Passes over a million rows are what a resume takes its time for."""
    task = make_task(docs=6, repeats=2)
    made = creval.run([task], MODEL, options(base_url=server.url))
    read: Counter[str] = Counter()
    decode, doc_at = Line.record, Dataset.__getitem__
    monkeypatch.setattr(Line, "record", lambda line: read.update([line.path.parent.name]) or decode(line))
    monkeypatch.setattr(Dataset, "__getitem__", lambda data, index: read.update(["docs"]) or doc_at(data, index))
    again = resume(made.folder)
    assert read == {"samples": 12, "scores": 12}
    assert again.results == made.results


@pytest.mark.parametrize(
    ("of_samples", "of_scores"),
    [
        (lambda rows: rows[:5], lambda rows: rows),
        (lambda rows: rows, lambda rows: rows[:3]),
        (lambda rows: rows[:5], lambda rows: rows[:3]),
        (lambda rows: [_errored(rows[0]), _errored(rows[1]), *rows[2:]], lambda rows: rows),
        (lambda rows: rows, lambda rows: [_errored(rows[0]), *rows[2:]]),
        (lambda rows: [*rows[:-1], rows[-1][:40]], lambda rows: [*rows[:-1], rows[-1][:40]]),
    ],
    ids=["samples lost", "scores lost", "both lost", "samples errored", "scores errored", "torn"],
)
def test_what_the_samples_took_is_counted_once(make_task, server, options, of_samples, of_scores):
    """Whatever is missing, results describe the final state."""
    made = creval.run([make_task(docs=6, repeats=2)], MODEL, options(base_url=server.url))
    for kind, change in (("samples", of_samples), ("scores", of_scores)):
        file = made.folder / kind / "parrot.jsonl"
        file.write_bytes(b"".join(change(file.read_bytes().splitlines(keepends=True))))
    again = resume(made.folder)
    assert again.results == made.results
    assert keys(made.folder) == keys(made.folder, "scores")
    assert resume(made.folder).results == made.results


def _errored(row: bytes) -> bytes:
    return row.replace(b'"status":"scored"', b'"status":"errored"')

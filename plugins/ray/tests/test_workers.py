"""Workers in other processes: the same results; one budget, ledger and limit for all; other versions are refused."""

from __future__ import annotations

import asyncio
import base64
import json
import pickle
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from in_process_workers import HOOKS, PARTS
from support.chat_server import ChatServer, HttpError, Received
from support.judged import HOOKS as JUDGED_HOOKS
from support.judged import PARTS as JUDGED_PARTS
from support.judged import write_judged

from creval.engine.run import rescore, resume, run_new
from creval.engine.run_options import Rescoring
from creval.errors import (
    ContextLengthError,
    FatalModelError,
    RetryableModelError,
    UnknownNameError,
    UsageError,
)
from creval.models.limiter import LimiterPool
from creval.runs.jsonl import read_lines
from creval.types.messages import LostUsage, Usage
from creval_ray.broker import Broker
from creval_ray.wire import decode_error, encode_error

JUDGE = {"judge": "hosted_vllm/judge"}


@pytest.fixture
def several(install, monkeypatch) -> Any:
    """The module of the executor with several workers in this process."""
    install("judged", JUDGED_HOOKS, JUDGED_PARTS)
    install("several", HOOKS, PARTS)
    monkeypatch.setenv("CREVAL_PLUGINS", "several,judged,judges")
    import creval_several_parts

    return creval_several_parts


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    found = [line for file in sorted((folder / name).glob("*.jsonl")) for line in read_lines(file)]
    for line in found:
        for each in ("started", "seconds"):
            line.pop(each, None)
        for call in line.get("calls", ()):
            call.get("reply", {}).pop("latency", None)
    return sorted(found, key=lambda line: (line["doc_id"], line["condition"], line["repeat"]))


def same(one: Path, other: Path) -> None:
    for name in ("samples", "scores"):
        assert lines(one, name) == lines(other, name)


def test_the_same_samples_and_scores_as_here(make_task, server, options, several, tmp_path) -> None:
    task = make_task(docs=8, repeats=2, conditions="conditions: {temperature: [0, 1]}")
    here = run_new([task], "hosted_vllm/m", options(base_url=server.url, output=tmp_path / "here"))
    there = run_new([task], "hosted_vllm/m", options(base_url=server.url, executor="several"))
    assert there.results["tasks"] == here.results["tasks"]
    same(here.folder, there.folder)
    models = [
        json.loads((f / "run.json").read_text())["attempts"][0]["models"]["target"] for f in (here.folder, there.folder)
    ]
    for done in models:
        done.pop("seconds")
    assert models[0] == models[1]
    assert {name for name, _ in several.SENT} == {"worker 0", "worker 1"}


def judged(request: Received) -> str:
    return "fine" if request.prompt.startswith("Say") else str(len(request.prompt))


@pytest.mark.parametrize("store", ["", "store: reference\n"])
def test_a_judge_is_asked_by_the_run_alone_and_paid_once(options, several, tmp_path, monkeypatch, store) -> None:
    task = Path(write_judged(tmp_path, docs=6))
    task.write_text(task.read_text() + store)
    with ChatServer(answer=judged) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        common = {"base_url": server.url, "roles": JUDGE}
        here = run_new([str(task)], "hosted_vllm/m", options(**common, output=tmp_path / "here"))
        before = len(server.requests)
        there = run_new([str(task)], "hosted_vllm/m", options(**common, executor="several"))
        paid = len(server.requests) - before
        again = rescore(there.folder, Rescoring(executor="several", executor_options={"workers": "3"}))
        assert len(server.requests) == before + paid and paid == before
    assert there.results["tasks"] == here.results["tasks"]
    same(here.folder, there.folder)
    assert again.results["tasks"] == there.results["tasks"]
    asked = [
        sorted(line["key"] for line in read_lines(f / "calls" / "judge.jsonl")) for f in (here.folder, there.folder)
    ]
    assert asked[0] == asked[1] and len(asked[0]) == len(set(asked[0]))
    assert ("worker 0", "role") in several.SENT


def test_one_budget_over_all_workers(make_task, server, options, several) -> None:
    task = make_task(docs=12)
    stopped = run_new([task], "hosted_vllm/m", options(base_url=server.url, executor="several", max_calls=5))
    assert stopped.budget is not None and len(server.requests) == 5
    whole = resume(stopped.folder, base_url=server.url, max_calls=12, executor="several")
    assert len(server.requests) == 12 and whole.results["tasks"][0]["counts"]["scored"] == 12


def test_one_limit_over_all_workers(make_task, options, several) -> None:
    """At most 3 calls in flight though each of four workers may make 3; after a 429 the one limit is halved."""
    with ChatServer(
        script=lambda r: HttpError(429) if r.prompt.endswith("word0") and not r.seen else None, latency=0.05
    ) as server:
        given = {"workers": "4"}
        run = run_new(
            [make_task(docs=16)],
            "hosted_vllm/m",
            options(base_url=server.url, executor="several", executor_options=given, concurrency=3),
        )
        assert server.most_in_flight <= 3
        assert len(server.requests) == 17
    assert run.results["tasks"][0]["counts"]["errored"] == 0


def test_what_a_lost_worker_held_is_free_again(make_task, options, several, monkeypatch) -> None:
    """A worker that is gone with the only place there is, and a call that was admitted, leaves both to the others."""
    made = several.Several.make

    async def make(self: Any, item: Any) -> Any:
        if item.key.doc == "d0":
            question = {"what": "acquire", "of": ["hosted_vllm", "http://x", 1], "number": -1}
            await self.coordinator.answer("ghost", question)
            await self.coordinator.answer("ghost", {"what": "admit", "number": -2, "amount": None, "cost": 0.0})
            waiting = asyncio.ensure_future(self.coordinator.answer("other", question))
            await asyncio.sleep(0)
            assert not waiting.done()
            self.coordinator.forget("ghost")
            assert (await waiting)["limit"] == 1
            self.coordinator.forget("other")
        return await made(self, item)

    monkeypatch.setattr(several.Several, "make", make)
    with ChatServer() as server:
        run = run_new(
            [make_task(docs=2)], "hosted_vllm/m", options(base_url=server.url, executor="several", max_calls=9)
        )
    assert run.results["tasks"][0]["counts"]["errored"] == 0


@pytest.mark.parametrize("is_lost", [False, True])
@pytest.mark.parametrize("steps", range(6))
def test_a_place_that_is_given_up_at_any_moment_is_free_again(is_lost: bool, steps: int) -> None:
    """The worker gives up, or is lost, when its question has gone `steps` turns of the loop, with a wait or without."""

    async def left(busy: bool) -> int:
        pool = LimiterPool()
        options = SimpleNamespace(limiters=pool, retry_policy=lambda: None)
        broker = Broker(cast(Any, SimpleNamespace(tasks=(), models=SimpleNamespace(options=options))))
        question = {"what": "acquire", "of": ["p", None, 1]}
        if busy:
            await broker.answer("other", {**question, "number": 0})
        task = asyncio.create_task(broker.answer("one", {**question, "number": 1}))
        if busy:
            for _ in range(9):
                await asyncio.sleep(0)
            broker.notify("other", {"what": "release", "number": 0})
        for _ in range(steps):
            await asyncio.sleep(0)
        if is_lost:
            broker.forget("one")
            task.cancel()
        else:
            broker.notify("one", {"what": "release", "number": 1})
        await asyncio.gather(task, return_exceptions=True)
        return pool.get("p", None, 1).in_flight

    assert [asyncio.run(left(busy)) for busy in (False, True)] == [0, 0]


def test_a_dead_key_ends_the_run_as_it_does_here(make_task, options, several) -> None:
    with ChatServer(script=lambda request: HttpError(401, {"message": "wrong key"})) as server:
        with pytest.raises(FatalModelError, match="wrong key") as raised:
            run_new([make_task(docs=40)], "hosted_vllm/m", options(base_url=server.url, executor="several"))
        assert raised.value.closed and len(server.requests) < 40


def other_plugins(spec: dict[str, Any]) -> dict[str, Any]:
    return spec | {"plugins": [each | {"version": "9.9"} for each in spec["plugins"]]}


def other_library(spec: dict[str, Any]) -> dict[str, Any]:
    return spec | {"libraries": {**spec["libraries"], "regex": "1"}}


def other_task(spec: dict[str, Any]) -> dict[str, Any]:
    return spec | {"tasks": {name: task | {"hash": "0"} for name, task in spec["tasks"].items()}}


def other_data(spec: dict[str, Any]) -> dict[str, Any]:
    return spec | {"tasks": {name: task | {"fingerprint": "0"} for name, task in spec["tasks"].items()}}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (other_plugins, r"judged 1\.2\.0 \(the run: 9\.9\)"),
        (other_library, r"regex .* \(the run: 1\)"),
        (other_task, "other tasks than the run: parrot$"),
        (other_data, r"other tasks than the run: parrot \(its data\)"),
    ],
)
def test_a_worker_that_has_other_parts_is_refused_by_name(make_task, server, options, several, change, match) -> None:
    several.Several.change = staticmethod(change)
    with pytest.raises(UsageError) as raised:
        run_new([make_task()], "hosted_vllm/m", options(base_url=server.url, executor="several"))
    assert re.search(match, raised.value.what) and "worker on " in str(raised.value)
    assert server.requests == [] and not options().output.exists()


def test_a_local_task_and_its_data_travel(make_task, server, options, several, monkeypatch, tmp_path) -> None:
    """Where the worker's machine has neither the file nor its data, it gets both."""
    task = Path(make_task(docs=4))
    own = tmp_path / "own.jsonl"
    own.write_text('{"id": "a", "word": "x", "target": "x"}\n')

    def moved_away(spec: dict[str, Any]) -> dict[str, Any]:
        moved = {str(task): "/nowhere/parrot.yaml", str(own): "/nowhere/own.jsonl"}
        about = {name: each | {"file": moved[each["file"]]} for name, each in spec["tasks"].items()}
        data = {name: moved[path] for name, path in spec["options"]["data"].items()}
        return spec | {
            "request": spec["request"] | {"tasks": [moved[name] for name in spec["request"]["tasks"]]},
            "tasks": about,
            "options": spec["options"] | {"data": data},
        }

    monkeypatch.setattr(several.Several, "change", staticmethod(moved_away))
    run = run_new([str(task)], "hosted_vllm/m", options(base_url=server.url, executor="several"))
    assert run.results["tasks"][0]["counts"]["scored"] == 4
    replaced = options(base_url=server.url, executor="several", output=tmp_path / "two", data={"parrot": own})
    assert run_new([str(task)], "hosted_vllm/m", replaced).results["tasks"][0]["counts"]["scored"] == 1


def test_the_worker_spec_is_plain_and_holds_no_secret(make_task, server, options, several, monkeypatch) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", "sk-canary-0123456789abcdef")
    address = f"{server.url}?key=canary-0123456789abcdef"
    run_new([make_task()], "hosted_vllm/m", options(base_url=address, executor="several"))
    assert all("key=canary" in request.path for request in server.requests)
    sent = pickle.dumps(several.SPECS[0])
    assert b"canary" not in sent and b"parrot" in sent


@pytest.mark.parametrize(
    "error",
    [
        RetryableModelError("a", where="b", fix="c", http_status=429, retry_after=2.0),
        ContextLengthError("a", http_status=400, every_call=False),
        FatalModelError("a", closed=True),
        UnknownNameError("task", "drta", ["drat"]),
    ],
)
def test_errors_survive_the_wire_format(error: Any) -> None:
    if isinstance(error, RetryableModelError):
        error.lost = LostUsage(2, Usage(3, 4, 1, 2), 0.5)
    again = decode_error(json.loads(json.dumps(encode_error(error))))
    assert type(again) is type(error) and str(again) == str(error)
    for name in ("http_status", "retry_after", "every_call", "closed", "lost"):
        assert getattr(again, name, None) == getattr(error, name, None)


def test_a_foreign_error_becomes_a_fault_of_a_plugin() -> None:
    assert "ZeroDivisionError: x" in str(decode_error(encode_error(ZeroDivisionError("x"))))


IMAGES = """\
schema: 1
task: looks
version: 1.0.0
title: Say what is shown
dataset: {source: file, file: looks.jsonl, id: id}
prompt:
  - {role: user, content: [{text: Say.}, {image: "{{ picture }}"}]}
roles:
  judge:
    prompts:
      verdict:
        - {role: user, content: [{text: "Right? {{ text }}"}, {image: "{{ picture }}"}]}
score:
  - judge: {prompt: verdict, labels: {"yes": 1, "no": 0}}
metrics:
  - {name: right, from: judge, aggregate: mean, primary: true, failed: zero}
"""


def test_images_come_back_from_workers_and_go_to_judges(options, several, tmp_path, monkeypatch) -> None:
    pictures = [b"\x89PNG\r\n\x1a\n" + bytes([i]) * 32 for i in range(4)]
    urls = [f"data:image/png;base64,{base64.b64encode(picture).decode()}" for picture in pictures]
    rows = [{"id": f"d{i}", "picture": url} for i, url in enumerate(urls)]
    (tmp_path / "looks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "looks.yaml").write_text(IMAGES)

    def see(request: Received) -> str:
        text, image = request.body["messages"][-1]["content"]
        assert image["image_url"]["url"] in urls
        return "yes" if text["text"].startswith("Right?") else "a thing"

    with ChatServer(answer=see) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        made = [
            run_new([str(tmp_path / "looks.yaml")], "hosted_vllm/m", options(roles=JUDGE, **more))
            for more in ({"output": tmp_path / "here"}, {"executor": "several"})
        ]
    here, there = made
    assert there.results["tasks"] == here.results["tasks"]
    same(here.folder, there.folder)
    media = [{file.name: file.read_bytes() for file in (each.folder / "media").iterdir()} for each in made]
    assert media[0] == media[1] and sorted(media[0].values()) == sorted(pictures)

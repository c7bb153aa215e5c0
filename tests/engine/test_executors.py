"""Executors: who carries out the samples of a run. Another one than the local loop changes no result."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from creval.engine.run import rescore, resume, run_new
from creval.engine.run_options import Rescoring, RunOptions
from creval.errors import PluginError, RunError, TaskError, UnknownNameError, UsageError
from creval.plugins.loader import load_plugins
from creval.plugins.registry import Registry

HOOKS = """
from creval.plugin import hookimpl

@hookimpl
def creval_components(registry):
    registry.add("executor", "counting", "creval_counting_parts:Counting", "counts what it does")
    registry.add("executor", "hollow", "creval_counting_parts:hollow", "is no executor")
"""
PARTS = """
from creval.plugin import UsageError

TOLD = []

class Counting:
    remote = False
    batch = 3

    def __init__(self, address, options):
        TOLD.append(("made", address, dict(options)))

    async def open(self, context):
        self._context = context
        TOLD.append(("open", context.concurrency))

    async def make(self, item):
        if "refuse" in item.doc.fields["word"]:
            raise UsageError("refused")
        made = await self._context.make(item)
        TOLD.append(("make", item.key.doc, made.error))
        return made

    async def score(self, task, batches, scored):
        def counted(scores):
            TOLD.append(("score", len(scores)))
            scored(scores)
        await self._context.score(task, batches, counted)

    async def close(self):
        TOLD.append(("close",))

def hollow(address, options):
    return object()
"""


@pytest.fixture
def recorded(install: Callable[[str, str, str], None]) -> Callable[[], list[tuple[object, ...]]]:
    """What the counting executor was asked to do."""
    install("counting", HOOKS, PARTS)

    def look() -> list[tuple[object, ...]]:
        import creval_counting_parts

        return creval_counting_parts.TOLD

    return look


def lines(folder: Path, name: str) -> list[dict[str, object]]:
    found = [json.loads(line) for line in (folder / name / "parrot.jsonl").read_text().splitlines()]
    timeless = [{k: v for k, v in line.items() if k not in ("started", "seconds", "calls")} for line in found]
    return sorted(timeless, key=lambda line: (line["doc_id"], line["repeat"]))


def test_an_unknown_executor_is_reported_with_the_nearest_name(make_task, server, options, recorded) -> None:
    with pytest.raises(UnknownNameError, match="unknown executor 'countin'") as raised:
        run_new([make_task()], "parrot", options(base_url=server.url, executor="countin"))
    assert "'counting'" in str(raised.value) and raised.value.where == "--executor"
    assert not (options().output).exists()


@pytest.mark.parametrize(
    "case",
    [
        ("local://127.0.0.1:1", {}, "has no address"),
        ("local", {"workers": "2"}, "has no option 'workers'"),
        ("counting://", {}, "names no address"),
    ],
)
def test_an_executor_that_cannot_be_is_refused_before_anything_is_done(
    make_task, server, options, recorded, case
) -> None:
    spec, given, match = case
    with pytest.raises(UsageError, match=match):
        run_new([make_task()], "parrot", options(base_url=server.url, executor=spec, executor_options=given))
    assert server.requests == []


def test_what_is_no_executor_is_a_fault_of_its_plugin(make_task, server, options, recorded) -> None:
    with pytest.raises(PluginError, match="without remote, batch, open, make, score, close"):
        run_new([make_task()], "parrot", options(base_url=server.url, executor="hollow"))


def test_a_plugins_executor_makes_the_same_run_and_is_closed(make_task, server, options, tmp_path, recorded) -> None:
    task = make_task(docs=8, repeats=2)
    here = run_new([task], "parrot", options(base_url=server.url, output=tmp_path / "here"))
    there = run_new(
        [task],
        "parrot",
        options(base_url=server.url, executor="counting://somewhere", executor_options={"a": "b"}),
    )
    assert there.results["tasks"] == here.results["tasks"]
    for name in ("samples", "scores"):
        assert lines(there.folder, name) == lines(here.folder, name)
    done = recorded()
    assert done[:2] == [("made", "somewhere", {"a": "b"}), ("open", 16)]
    assert sum(entry[0] == "make" for entry in done) == 16
    assert [entry[1] for entry in done if entry[0] == "score"] == [3, 3, 3, 3, 3, 1]
    assert done[-1] == ("close",)
    manifests = [json.loads((folder / "run.json").read_text()) for folder in (here.folder, there.folder)]
    assert manifests[0]["tasks"] == manifests[1]["tasks"]
    assert manifests[1]["options"]["executor"] == "counting://somewhere"
    assert "executor" not in (there.folder / "run.yaml").read_text()


def test_an_executor_that_ends_the_run_is_closed(make_task, server, options, tmp_path, recorded) -> None:
    task = make_task()
    (tmp_path / "parrot.jsonl").write_text('{"id": "a", "word": "refuse", "target": "x"}\n')
    with pytest.raises(UsageError, match="refused"):
        run_new([task], "parrot", options(base_url=server.url, executor="counting"))
    assert recorded()[-1] == ("close",)


def test_a_run_is_resumed_and_scored_by_another_executor(make_task, server, options, recorded) -> None:
    task = make_task(docs=8)
    stopped = run_new([task], "parrot", options(base_url=server.url, max_calls=3))
    assert stopped.budget is not None
    whole = resume(stopped.folder, max_calls=100, executor="counting", executor_options={})
    assert whole.results["tasks"][0]["counts"]["scored"] == 8
    assert sum(entry[0] == "make" for entry in recorded()) == 5
    again = rescore(stopped.folder, Rescoring(executor="local"))
    assert again.results["tasks"] == whole.results["tasks"]
    by_its_own = rescore(stopped.folder)
    assert by_its_own.results["tasks"] == whole.results["tasks"]
    assert sum(entry[0] == "made" for entry in recorded()) == 2


def test_a_person_plays_at_this_machine(make_task, options, recorded, monkeypatch) -> None:
    import creval_counting_parts

    monkeypatch.setattr(creval_counting_parts.Counting, "remote", True)
    with pytest.raises(UsageError, match="a person can only answer on this machine"):
        run_new([make_task()], "human/me", options(executor="counting"))


def test_the_local_loop_is_registered_like_any_other() -> None:
    component = load_plugins().registry.get("executor", "local")
    assert component.plugin == "core"
    assert RunOptions().executor == component.name


def test_batches_are_gathered_in_this_process(make_task, options, recorded, monkeypatch) -> None:
    import creval_counting_parts

    monkeypatch.setattr(creval_counting_parts.Counting, "remote", True)
    with pytest.raises(UsageError, match="batches are collected only in this process") as refused:
        run_new([make_task()], "hosted_vllm/x", options(executor="counting", batch=True))
    assert "--executor" in str(refused.value)


def test_needs_enter_the_hash_where_they_are_stated_and_nothing_that_names_a_score(make_task, server, options) -> None:
    task = Path(make_task())
    plain = run_new([str(task)], "hosted_vllm/m", options(base_url=server.url))
    task.write_text(task.read_text() + "needs: {gpu: 1}\n")
    with pytest.raises(RunError, match="the task of 'parrot' changed"):
        resume(plain.folder)
    again = rescore(plain.folder)  # what is asked is the same
    assert again.results["tasks"][0]["metrics"] == plain.results["tasks"][0]["metrics"]
    task.write_text(task.read_text().replace("gpu: 1", "gpus: 1"))
    with pytest.raises(TaskError, match="gpus"):
        run_new([str(task)], "hosted_vllm/m", options(base_url=server.url))


def test_needs_of_a_part_are_checked_where_it_registers() -> None:
    registry = Registry()
    registry.add("embedding", "large", "a:b", needs={"gpu": 1})
    assert registry.get("embedding", "large").needs == {"gpu": 1}
    for wrong in ({"tpu": 1}, {"gpu": 0}, {"gpu": "1"}, ["gpu"]):
        with pytest.raises(PluginError, match="needs of 'other'"):
            registry.add("embedding", "other", "a:b", needs=wrong)

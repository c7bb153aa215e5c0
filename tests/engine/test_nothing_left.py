"""A new run that ends by an error before it wrote a sample leaves nothing behind, and takes nothing of others."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from support.chat_server import ChatServer

import creval
from creval.engine.run import resume
from creval.engine.run_options import RunOptions
from creval.errors import CrevalError, DataError, MissingPartError, RunError
from creval.runs import jsonl

MODEL = "hosted_vllm/parrot"
PLUGIN = """
    from creval.plugins import hookimpl

    @hookimpl
    def creval_components(registry):
        schema = {"type": "object", "properties": {"unwatched": {"type": "string"}}, "additionalProperties": False}
        registry.add("protocol", "watched", "creval_watched_parts:Watched", roles=("judge",), parameters=schema)
        registry.add("provider", "locked", "creval_watched_parts:Locked")

    @hookimpl
    def creval_run_started(manifest, folder):
        if (folder.parent / "observed").exists():
            (folder / "notes.txt").write_text("an observer's")
"""
PARTS = """
    import os
    from creval.errors import MissingPartError
    from creval.models.provider_traits import ProviderTraits
    from creval.types.messages import Completion, Reply

    class Locked:
        traits = ProviderTraits(remote=False, cacheable=False, free=True)
        def __init__(self, model, options): pass

        async def generate(self, request):
            if "UNLOCKED" not in os.environ:
                raise MissingPartError("the door is locked")
            return Reply((Completion("fine"),))

        async def close(self): pass

    class Watched:
        def __init__(self, unwatched=""):
            self.unwatched = unwatched

        async def run(self, session):
            if session.doc.id != self.unwatched:
                await session.ask(session.prompt(), role="judge")
            session.answer("word0")
"""


@pytest.fixture
def start(make_task, server: ChatServer, options, install) -> Callable[..., RunOptions]:
    """Begin a run whose judge fails for good when it is first asked; returns its options."""
    install("watched", PLUGIN, PARTS)

    def begin(unwatched: str = "", **changes: object) -> RunOptions:
        task = make_task(docs=2, extra=f"protocol: {{watched: {{unwatched: '{unwatched}'}}}}\n")
        given = options(base_url=server.url, roles={"judge": "locked/x"}, concurrency=1, **changes)
        with pytest.raises(MissingPartError):
            creval.run([task], MODEL, given)
        return given

    return begin


def held(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*"))


def test_the_folder_goes_with_the_folders_made_for_it(start, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    start(output=tmp_path / "kept" / "of" / "today")
    assert held(tmp_path / "kept") == []


def test_so_does_one_of_its_own_under_runs(start, tmp_path: Path) -> None:
    start(output=None)
    assert not (tmp_path / "runs").exists()
    (tmp_path / "runs").mkdir()
    start(output=None)
    assert held(tmp_path / "runs") == []


def test_an_empty_folder_stays_and_is_empty_again(start, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    start(output=tmp_path / "mine")
    assert held(tmp_path / "mine") == []


def test_of_a_folder_that_held_something_nothing_is_removed(start, tmp_path: Path) -> None:
    (tmp_path / "mine" / "samples").mkdir(parents=True)
    (tmp_path / "mine" / "samples" / "parrot.jsonl").touch()
    start(output=tmp_path / "mine")
    assert {"samples/parrot.jsonl", "run.json"} <= set(held(tmp_path / "mine"))


def test_what_an_observer_wrote_stays(start, tmp_path: Path) -> None:
    (tmp_path / "observed").touch()
    start()
    assert held(tmp_path / "run") == ["notes.txt"]


def test_a_run_with_a_sample_stays_and_is_resumed(start, tmp_path: Path, monkeypatch, server: ChatServer) -> None:
    folder = start(unwatched="d0").output
    assert len((folder / "samples" / "parrot.jsonl").read_text().splitlines()) == 1
    monkeypatch.setenv("UNLOCKED", "yes")
    assert resume(folder).results["tasks"][0]["counts"]["scored"] == 2


def test_an_interrupted_run_stays_without_a_sample(make_task, server: ChatServer, options) -> None:
    class Stop:
        def on_phase(self, phase: str, *given: object) -> None:
            if phase == "generate":
                os.kill(os.getpid(), signal.SIGINT)

        on_sample = on_scored = on_finish = lambda self, *given: None

    folder = options().output
    with pytest.raises(KeyboardInterrupt) as stopped:
        creval.run([make_task()], MODEL, options(base_url=server.url), Stop())
    assert stopped.value.__notes__ == [f"No sample is finished yet. Resume with: creval resume {folder}"]
    assert not any(file.stat().st_size for file in folder.glob("samples/*"))
    assert resume(folder).results["tasks"][0]["counts"]["scored"] == 8


@pytest.mark.parametrize("full", ["samples/parrot.jsonl", "run.json"])
def test_a_full_disk_says_what_can_be_done(make_task, server: ChatServer, options, monkeypatch, full: str) -> None:
    """With the manifest on disk the run can be resumed; without it there is no run."""
    real_write, real_fsync = os.write, os.fsync

    def write(descriptor: int, data: bytes) -> int:
        if str(Path(f"/proc/self/fd/{descriptor}").readlink()).endswith(full):
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_write(descriptor, data)

    def fsync(descriptor: int) -> None:
        if "run.json" in str(Path(f"/proc/self/fd/{descriptor}").readlink()) and full == "run.json":
            raise OSError(errno.ENOSPC, "No space left on device")
        real_fsync(descriptor)

    monkeypatch.setattr(jsonl.os, "write", write)
    monkeypatch.setattr(jsonl.os, "fsync", fsync)
    folder = options().output
    with pytest.raises(CrevalError, match="the disk is full") as caught:
        creval.run([make_task()], MODEL, options(base_url=server.url, concurrency=1))
    monkeypatch.undo()
    assert isinstance(caught.value, RunError)
    assert folder.exists() == (full != "run.json")
    assert (f"creval resume {folder}" in str(caught.value)) == (full != "run.json")


@pytest.mark.parametrize("role", ["target", "judge"])
def test_a_recording_with_a_damaged_line_is_refused_before_the_first_call(
    make_task, install, options, monkeypatch, role: str
) -> None:
    """Where its answers stand is noted late, when one is about to be asked for; nothing is left all the same."""
    install("watched", PLUGIN, PARTS)
    broken = Path("broken.jsonl")
    broken.write_text('{"task": "parrot", "doc": "d0", "answers": ["word0"]}\n{"task": \n', "utf-8")
    task = make_task(docs=2, extra="protocol: {watched: {}}\n")
    models = {"target": MODEL, "judge": MODEL, role: f"replay/{broken}"}
    given = options(roles={"judge": models["judge"]})
    with ChatServer() as server, pytest.raises(DataError, match="the line is not a recorded sample") as caught:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        creval.run([task], models["target"], given)
    assert caught.value.where == f"{broken}:2"
    assert not server.requests and not given.output.exists()

"""What ends a scoring early names the command that scores again, with its options, and not the one that goes on."""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer

import creval
from creval.cli.main import invoke
from creval.engine.run import rescore
from creval.engine.run_options import Rescoring
from creval.errors import RunError
from creval.runs import jsonl

MODEL = "hosted_vllm/parrot"


@contextlib.contextmanager
def full(part: str, room: int = 300) -> Iterator[None]:
    """A disk that takes no more than `room` bytes of the files whose path holds `part`."""
    real, left = os.write, [room]

    def write(descriptor: int, data: bytes) -> int:
        if part not in str(Path(f"/proc/self/fd/{descriptor}").readlink()):
            return real(descriptor, data)
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = real(descriptor, data[: left[0]])
        left[0] -= written
        return written

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl.os, "write", write)
        yield


def advised_command(error: BaseException) -> list[str]:
    """The words of the command that an error names last, without `creval`."""
    return shlex.split("\n".join([str(error), *getattr(error, "__notes__", ())]).rpartition("creval ")[2])


@pytest.fixture
def run(make_task: Any, server: ChatServer, options: Any) -> creval.RunResult:
    return creval.run([make_task()], MODEL, options(base_url=server.url))


def test_a_full_disk_while_scoring_names_the_scoring(run: creval.RunResult, make_task: Any, tmp_path: Path) -> None:
    before = (run.folder / "scores" / "parrot.jsonl").read_bytes()
    how = Rescoring(task_files=(Path(make_task()),), max_calls=50, trust_remote_code=True)
    with full("scores"), pytest.raises(RunError, match="the disk is full\nFree some space, then score again") as caught:
        rescore(run.folder, how)
    assert (run.folder / "scores" / "parrot.jsonl").read_bytes() == before
    words = advised_command(caught.value)
    file = str(tmp_path / "parrot.yaml")
    assert words == ["score", str(run.folder), "--task-file", file, "--max-calls", "50", "--trust-remote-code"]
    assert invoke(words) == 0


def test_with_a_new_folder_the_copy_is_what_is_scored(run: creval.RunResult, tmp_path: Path) -> None:
    with full("scores"), pytest.raises(RunError, match="the disk is full") as caught:
        rescore(run.folder, Rescoring(output=tmp_path / "again"))
    assert advised_command(caught.value) == ["score", str(tmp_path / "again")]
    assert invoke(advised_command(caught.value)) == 0


def test_an_interrupted_scoring_names_the_scoring(run: creval.RunResult) -> None:
    class Stop:
        def on_scored(self, count: int) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        rescore(run.folder, Rescoring(max_cost=0.5), Stop())  # type: ignore[arg-type]
    assert advised_command(caught.value) == ["score", str(run.folder), "--max-cost", "0.5"]
    assert creval.open_run(run.folder)["parrot"]["right"]["value"] == 0.75


def test_a_full_disk_while_a_run_is_resumed_names_the_run(run: creval.RunResult) -> None:
    (run.folder / "scores" / "parrot.jsonl").unlink()
    with full("scores"), pytest.raises(RunError, match="the disk is full") as caught:
        from creval.engine.run import resume

        resume(run.folder)
    assert advised_command(caught.value) == ["resume", str(run.folder)]

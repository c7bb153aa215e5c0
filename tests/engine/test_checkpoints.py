"""Checkpoints of large files: what is resumed is the same with them, without them, and with broken ones."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.chat_server import ChatServer, HttpError, Received
from support.parrot import parrot

import creval
from creval.engine.observer import Quiet
from creval.engine.resuming import resume_state
from creval.engine.run import rescore, resume
from creval.errors import RunError
from creval.runs.jsonl import Line, disk_error, dump_line, read_lines, whole_lines

MODEL = "hosted_vllm/parrot"
EVERY = 10


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(resume_state, "EVERY", EVERY)


@pytest.fixture
def read(monkeypatch) -> list[Line]:
    """The rows that are accounted for by reading them."""
    lines: list[Line] = []

    def noted(*given: Any) -> Iterator[Line]:
        for line in whole_lines(*given):
            lines.append(line)
            yield line

    monkeypatch.setattr("creval.engine.resuming.row_state.whole_lines", noted)
    return lines


def read_results(folder: Path) -> dict:
    """What results.json says, but for the name of the folder."""
    return json.loads((folder / "results.json").read_text("utf-8")) | {"run": ""}


def point(folder: Path, kind: str) -> Path:
    return folder / "checkpoints" / kind / "parrot.npz"


def copies(folder: Path) -> tuple[Path, Path]:
    """The run, and a copy of it without checkpoints."""
    bare = folder.with_name(folder.name + "-bare")
    shutil.copytree(folder, bare)
    shutil.rmtree(bare / "checkpoints", ignore_errors=True)
    return folder, bare


def answers(request: Received) -> HttpError | None:
    """Of the words that the parrot is asked for, some are not available."""
    return HttpError(500) if parrot(request) in ("word3", "word17", "word38") else None


def test_a_finished_run_is_resumed_without_reading_its_rows(make_task, server, options, read):
    folder = creval.run([make_task(docs=47, repeats=2)], MODEL, options(base_url=server.url)).folder
    before = read_results(folder)
    resume(folder)
    assert not read
    assert read_results(folder) == before and before["tasks"][0]["counts"]["scored"] == 94
    point(folder, "scores").unlink()
    resume(folder)
    assert len(read) == 94 and {line.path.parent.name for line in read} == {"scores"}
    assert read_results(folder) == before and point(folder, "scores").exists()


def test_small_runs_have_none(make_task, server, options):
    folder = creval.run([make_task(docs=EVERY - 1)], MODEL, options(base_url=server.url)).folder
    resume(folder)
    assert not (folder / "checkpoints").exists()


class Stop(Quiet):
    """Interrupts a run after so many samples or scores."""

    def __init__(self, samples: int = -1, scores: int = -1) -> None:
        self.samples, self.scores = samples, scores

    def on_sample(self, *_):
        self.samples -= 1
        if self.samples == 0:
            raise KeyboardInterrupt

    def on_scored(self, count: int) -> None:
        if self.scores >= 0 and count:
            self.scores -= count
            if self.scores <= 0:
                self.scores = -1
                raise KeyboardInterrupt


@pytest.mark.parametrize("stop", [{"samples": 1}, {"samples": 9}, {"samples": 31}, {"samples": 60}, {"scores": 1}])
def test_a_run_that_was_interrupted_ends_as_one_that_was_not(make_task, server, options, read, tmp_path, stop):
    task = make_task(docs=60)
    whole = creval.run([task], MODEL, options(base_url=server.url, output=tmp_path / "whole"))
    folder = tmp_path / "stopped"
    given = options(base_url=server.url, output=folder, concurrency=1)  # nothing is in flight when it stops
    with pytest.raises(KeyboardInterrupt):
        creval.run([task], MODEL, given, observer=Stop(**stop))
    made = len(list(read_lines(folder / "samples" / "parrot.jsonl")))
    (folder, bare), asked = copies(folder), len(server.requests)
    read.clear()
    resume(folder)
    assert sum(line.path.parent.name == "samples" for line in read) < EVERY
    resume(bare)
    assert read_results(folder) == read_results(bare) == read_results(whole.folder)
    assert len(server.requests) == asked + 2 * (60 - made)


@pytest.mark.parametrize("by_docs", [False, True])
def test_errored_samples_are_made_again(make_task, options, read, by_docs, monkeypatch):
    """Rows that are made again leave the files, their sums and their columns, and only these."""
    if by_docs:
        monkeypatch.setattr("creval.engine.scoring.task_scoring.TaskScoring.by_docs", True)
    failing = [answers]

    def script(request: Received) -> HttpError | None:
        return failing[0](request)

    with ChatServer(script, answer=parrot) as server:
        ran = creval.run([make_task(docs=45)], MODEL, options(base_url=server.url, max_retries=0))
        assert ran.results["tasks"][0]["counts"]["errored"] == 3
        folder, bare = copies(ran.folder)
        read.clear()
        resume(folder)  # they fail again
        assert len(read) < EVERY
        assert read_results(folder)["tasks"][0]["counts"]["errored"] == 3
        failing[0] = lambda request: None
        for each in (folder, bare):
            asked = len(server.requests)
            resume(each)
            assert len(server.requests) == asked + 3
    assert read_results(folder) == read_results(bare) and read_results(folder)["tasks"][0]["counts"]["scored"] == 45
    for each in (folder, bare):
        ids = [row["doc_id"] for row in read_lines(each / "scores" / "parrot.jsonl")]
        assert len(ids) == len(set(ids)) == 45


def test_what_was_paid_counts_as_before(make_task, server, options):
    """The limits of a run go on from what its samples took, read from its rows or from a checkpoint."""
    folder = creval.run([make_task(docs=40)], MODEL, options(base_url=server.url, max_calls=25)).folder
    manifest = json.loads((folder / "run.json").read_text("utf-8"))
    manifest["attempts"] = []  # as after a kill: no book was closed
    (folder / "run.json").write_text(json.dumps(manifest), "utf-8")
    for each in copies(folder):
        asked = len(server.requests)
        resume(each, max_calls=30)
        assert len(server.requests) == asked + 5


def test_a_row_that_changed_is_read(make_task, server, options, read):
    folder = creval.run([make_task(docs=40)], MODEL, options(base_url=server.url)).folder
    file = folder / "scores" / "parrot.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"exact_match":1.0', b'"exact_match":0.0', 1))
    before = read_results(folder)
    resume(folder)
    assert len(read) == 40
    assert read_results(folder)["tasks"][0]["metrics"][0]["value"] == before["tasks"][0]["metrics"][0]["value"] - 1 / 40


def test_a_row_that_is_no_longer_the_runs_own_is_named_by_its_line(make_task, server, options):
    folder = creval.run([make_task(docs=40)], MODEL, options(base_url=server.url)).folder
    for kind in ("samples", "scores"):
        file = folder / kind / "parrot.jsonl"
        kept, first = file.read_bytes(), file.read_bytes().splitlines(keepends=True)[0]
        file.write_bytes(kept + first)
        with pytest.raises(RunError, match="occurs twice") as caught:
            resume(folder)
        assert caught.value.where == f"{file}:41"
        file.write_bytes(kept)


def test_scores_whose_samples_are_gone_go(make_task, server, options):
    folder = creval.run([make_task(docs=40)], MODEL, options(base_url=server.url)).folder
    before, file = read_results(folder), folder / "samples" / "parrot.jsonl"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[5:]))
    resume(folder)
    assert read_results(folder) == before and len(server.requests) == 45
    assert len(list(read_lines(folder / "scores" / "parrot.jsonl"))) == 40


def spoilt(data: bytes, how: str) -> bytes:
    middle = len(data) // 2
    return {
        "empty": b"",
        "cut": data[:middle],
        "longer": data + data,
        "no archive": b"not an archive",
        "one array": b"\x93NUMPY",
        "zeros": data[:middle] + bytes(len(data) - middle),
    }[how]


@pytest.mark.parametrize("how", ["empty", "cut", "longer", "no archive", "one array", "zeros"])
def test_a_broken_checkpoint_is_none(make_task, server, options, how):
    folder = creval.run([make_task(docs=40)], MODEL, options(base_url=server.url)).folder
    before = read_results(folder)
    for kind in ("samples", "scores"):
        file = point(folder, kind)
        file.write_bytes(spoilt(file.read_bytes(), how))
    resume(folder)
    assert read_results(folder) == before and len(server.requests) == 40


def test_no_flipped_byte_of_a_checkpoint_changes_anything(make_task, server, options):
    folder = creval.run([make_task(docs=40)], MODEL, options(base_url=server.url)).folder
    before, chance = read_results(folder), random.Random(1)
    for kind in ("samples", "scores"):
        file = point(folder, kind)
        sound = file.read_bytes()
        for _ in range(12):
            place = chance.randrange(len(sound))
            file.write_bytes(sound[:place] + bytes([sound[place] ^ (1 << chance.randrange(8))]) + sound[place + 1 :])
            resume(folder)
            assert read_results(folder) == before, place
    assert len(server.requests) == 40


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("done", np.zeros(1, dtype=np.uint8)),
        ("score:exact_match", np.zeros(3)),
        ("doc", np.zeros(40)),
        ("redo", np.zeros(2, dtype=np.int64)),
        ("status", np.array([object()] * 40)),
        ("about", np.frombuffer(b"{}", dtype=np.uint8)),
        ("about", np.frombuffer(b"[1]", dtype=np.uint8)),
        ("about", np.frombuffer(b"\xff", dtype=np.uint8)),
    ],
)
def test_a_checkpoint_of_another_form_is_none(make_task, server, options, name, given):
    folder = creval.run([make_task(docs=40)], MODEL, options(base_url=server.url)).folder
    before = read_results(folder)
    for kind in ("samples", "scores"):
        arrays = dict(np.load(point(folder, kind)))
        np.savez(point(folder, kind), **{**arrays, name: given})
    resume(folder)
    assert read_results(folder) == before and len(server.requests) == 40


def test_a_checkpoint_of_another_run_is_none(make_task, server, options, tmp_path):
    task = make_task(docs=40)
    one, other = (
        creval.run([task], MODEL, options(base_url=server.url, output=tmp_path / name, repeats=repeats)).folder
        for name, repeats in (("one", 1), ("other", 2))
    )
    before = read_results(other)
    for kind in ("samples", "scores"):
        shutil.copy(point(one, kind), point(other, kind))
    resume(other)
    assert read_results(other) == before


def test_a_full_disk_leaves_no_checkpoint_and_ends_no_run(make_task, server, options, monkeypatch):
    def full(path: Path):
        raise disk_error(OSError(28, "No space left on device"), path)

    monkeypatch.setattr(resume_state, "replacing", full)
    folder = creval.run([make_task(docs=40)], MODEL, options(base_url=server.url)).folder
    assert read_results(folder)["tasks"][0]["counts"]["scored"] == 40
    assert not any((folder / "checkpoints").rglob("*.npz"))


def test_scoring_again_leaves_a_checkpoint_of_the_new_scores(make_task, server, options, read, tmp_path):
    folder = creval.run([make_task(docs=40)], MODEL, options(base_url=server.url)).folder
    file = tmp_path / "parrot.yaml"
    file.write_text(file.read_text("utf-8").replace("aggregate: mean", "aggregate: {rate: {at_least: 0.5}}"), "utf-8")
    rescore(folder)
    again, (folder, bare) = read_results(folder), copies(folder)
    read.clear()
    for each in (folder, bare):
        manifest = json.loads((each / "run.json").read_text("utf-8"))
        manifest["tasks"][0]["hash"] = again["tasks"][0]["hash"]  # as if it had been begun so
        manifest["rescored"] = []
        (each / "run.json").write_text(json.dumps(manifest), "utf-8")
        resume(each)
        assert read_results(each) == again
    assert len(read) == 80


def test_lines_in_other_words_are_reported_alike(make_task, server, options):
    """A row need not be written as creval writes it."""
    folder = creval.run([make_task(docs=40)], MODEL, options(base_url=server.url)).folder
    before = read_results(folder)
    for kind in ("samples", "scores"):
        file = folder / kind / "parrot.jsonl"
        rows = [dict(reversed(row.items())) for row in read_lines(file)]
        file.write_bytes(b"".join(dump_line(row) for row in rows))
    resume(folder)
    assert read_results(folder) == before

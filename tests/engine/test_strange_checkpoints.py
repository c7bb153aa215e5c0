"""Checkpoints that nobody's creval wrote so: they cost nothing, hold nothing up and change nothing."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import creval
from creval.engine.resuming import resume_state
from creval.engine.resuming.resume_state import open_arrays
from creval.engine.run import rescore, resume
from creval.runs.jsonl import Line, read_lines

MODEL = "hosted_vllm/parrot"
ROWS = 40
KINDS = ("samples", "scores")


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(resume_state, "EVERY", 10)


@pytest.fixture
def folder(make_task, server, options) -> Path:
    """A finished run with both checkpoints."""
    return creval.run([make_task(docs=ROWS)], MODEL, options(base_url=server.url)).folder


def read_results(folder: Path) -> dict:
    return json.loads((folder / "results.json").read_text("utf-8")) | {"run": ""}


def point(folder: Path, kind: str) -> Path:
    return folder / "checkpoints" / kind / "parrot.npz"


def stored(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, allow_pickle=True)
    return file.getvalue()


def claiming(shape: tuple[int, ...], kind: str = "|u1", data: bytes = b"") -> bytes:
    """An array that says to be of a shape, whatever it holds."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": shape})
    return file.getvalue() + data


def members(file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}


def write(file: Path, parts: Mapping[str, bytes], packing: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(file, "w", packing) as archive:
        for name, data in parts.items():
            archive.writestr(f"{name}.npy", data)


def saying(file: Path, **said: object) -> bytes:
    """What a checkpoint says of itself, some of it in other words."""
    about = json.loads(np.load(file)["about"].tobytes()) | said
    return stored(np.frombuffer(json.dumps(about).encode(), dtype=np.uint8))


STRANGE = {
    "more than there is memory": lambda file: {"done": claiming((10**14,))},
    "more than a number holds": lambda file: {"done": claiming((2**62, 2**62))},
    "less than nothing": lambda file: {"done": claiming((-1,), data=bytes(5))},
    "a head that does not end": lambda file: {"done": members(file)["done"].replace(b")", b"(", 1)},
    "several dimensions": lambda file: {"redo": stored(np.zeros((0, 3), dtype=np.int64))},
    "a single number": lambda file: {"done": stored(np.zeros((), dtype=np.uint8))},
    "texts": lambda file: {"done": stored(np.array(["x"] * 6))},
    "objects": lambda file: {"done": stored(np.array([object] * 6, dtype=object))},
    "deep in itself": lambda file: {
        "about": stored(np.frombuffer(b"[" * 100_000 + b"]" * 100_000, dtype=np.uint8)),
    },
    "without end": lambda file: {"about": saying(file, lines=float("inf"))},
    "of no bytes": lambda file: {"about": saying(file, size=0, sha256=hashlib.sha256().hexdigest())},
    "a sample beyond the last": lambda file: {"redo": stored(np.array([10**9, 0, 10]))},
    "a sample that stays": lambda file: {"redo": stored(np.array([0, 0, 10]))},
    "before the first byte": lambda file: {"redo": stored(np.array([3, -5, 5]))},
    "no whole numbers": lambda file: {"redo": stored(np.zeros(3))},
}


@pytest.mark.parametrize("how", STRANGE)
def test_a_strange_checkpoint_is_none(folder, server, how):
    before, rows = read_results(folder), {kind: (folder / kind / "parrot.jsonl").read_bytes() for kind in KINDS}
    for kind in KINDS:
        file = point(folder, kind)
        write(file, members(file) | STRANGE[how](file))
    resume(folder)
    assert read_results(folder) == before and len(server.requests) == ROWS
    assert rows == {kind: (folder / kind / "parrot.jsonl").read_bytes() for kind in KINDS}


@pytest.mark.parametrize(("name", "number"), [("doc", ROWS), ("doc", -1), ("status", 77), ("ended:exact_match", 77)])
def test_columns_of_what_there_is_not_are_none(folder, name, number):
    before, file = read_results(folder), point(folder, "scores")
    columns = dict(np.load(file))
    columns[name][3] = number
    np.savez(file, **columns)
    resume(folder)
    assert read_results(folder) == before


def test_an_archive_is_never_unpacked(folder):
    """A few kilobytes can be gigabytes of zeros."""
    before = read_results(folder)
    for kind in KINDS:
        file = point(folder, kind)
        parts = members(file) | {"redo": claiming((10**6,), "<i8", bytes(8 * 10**6))}
        write(file, parts, zipfile.ZIP_DEFLATED)
        assert file.stat().st_size < 100_000
        with open_arrays(file) as arrays, pytest.raises(ValueError, match="packed"):
            arrays["redo"]
    resume(folder)
    assert read_results(folder) == before


@pytest.mark.parametrize("flags", [(8, 99), (6, 1)])
def test_an_archive_in_a_way_that_cannot_be_read_is_none(folder, flags):
    """Another method of packing, and a password: zipfile has errors of their own for them."""
    before, (place, value) = read_results(folder), flags
    for kind in KINDS:
        data = bytearray(point(folder, kind).read_bytes())
        for mark, more in ((rb"PK\x03\x04", 0), (rb"PK\x01\x02", 2)):
            for found in re.finditer(mark, bytes(data)):
                data[found.start() + place + more] = value
        point(folder, kind).write_bytes(data)
    resume(folder)
    assert read_results(folder) == before


def test_what_is_no_file_is_none(folder):
    before = read_results(folder)
    loop, endless = lambda path: path.symlink_to(path.name), lambda path: path.symlink_to("/dev/zero")
    for make in (os.mkfifo, loop, endless, Path.mkdir):
        for kind in KINDS:
            point(folder, kind).unlink()
            make(point(folder, kind))
        resume(folder)
        assert read_results(folder) == before


def test_a_path_that_is_no_folder_keeps_no_run_from_its_end(make_task, server, options, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "checkpoints").write_text("a note")
    folder = creval.run([make_task(docs=ROWS)], MODEL, options(base_url=server.url)).folder
    assert read_results(folder)["tasks"][0]["counts"]["scored"] == ROWS
    assert (folder / "checkpoints").read_text() == "a note"


def test_repeats_beyond_a_byte_are_in_checkpoints_too(make_task, server, options, monkeypatch):
    folder = creval.run([make_task(docs=1, repeats=258)], MODEL, options(base_url=server.url)).folder
    before, read = read_results(folder), []
    record = Line.record
    monkeypatch.setattr(Line, "record", lambda line: read.append(line) or record(line))
    resume(folder)
    assert not read and read_results(folder) == before


DIES = """
import os, signal, sys
from pathlib import Path
import creval.runs.jsonl as jsonl
from creval.engine.resuming import resume_state
from creval.engine.run import resume
resume_state.EVERY = 10

def dies(file, columns):
    file.write(b"half of it")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

resume_state.write_arrays = dies
resume(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("again", [resume, rescore])
def test_half_a_checkpoint_of_a_killed_process_goes(folder, again):
    before = read_results(folder)
    point(folder, "scores").unlink()
    died = subprocess.run([sys.executable, "-c", DIES, folder], check=False, timeout=60)
    assert died.returncode == -signal.SIGKILL
    left = [file for file in folder.rglob(".*") if file.name != ".lock"]
    assert [file.read_bytes() for file in left] == [b"half of it"]
    (folder / "samples" / ".mine.jsonl").write_text("a file of somebody else")
    again(folder)
    assert read_results(folder)["tasks"] == before["tasks"]
    assert sorted(file.name for file in folder.rglob(".*")) == [".lock", ".mine.jsonl"]
    assert len(list(read_lines(folder / "samples" / "parrot.jsonl"))) == ROWS

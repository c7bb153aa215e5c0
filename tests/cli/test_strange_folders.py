"""Every command over a run folder of which each file in turn is not what creval wrote: one message, and nothing outside
of the folder is read, written or waited for."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer
from support.judged import HOOKS, PARTS, write_judged
from support.parrot import parrot
from support.toy_plugins import write_distribution

import creval
from creval.cli.main import invoke
from creval.data import table_files
from creval.engine.resuming import resume_state
from creval.engine.run_options import RunOptions
from creval.models.local import replay
from creval.runs import jsonl

READ = ("run.json", "results.json", "samples/judged.jsonl", "scores/judged.jsonl", "calls/judge.jsonl")
"""What commands read that look at runs; the others are for resuming one."""
KEPT = (
    "run.yaml",
    ".lock",
    "batches.jsonl",
    "checkpoints/samples/judged.npz",
    "checkpoints/scores/judged.npz",
    "tasks/judged.yaml",
    "tasks/judged.jsonl",
    "report.html",
)
FOLDERS = ("samples", "scores", "calls", "checkpoints", "tasks")
PATIENCE = 60
SECRET = b'{"private": "of the user"}\n'


def _link(path: Path, outside: Path) -> None:
    """To the user's own file or folder; the folder holds files of the names that a run has."""
    if path.is_dir():
        shutil.move(path, outside / path.name)
        path.symlink_to(outside / path.name)
    else:
        path.unlink()
        path.symlink_to(outside / "private")


def _gone(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def _fifo(path: Path, _: Path) -> None:
    _gone(path)
    os.mkfifo(path)


def _folder(path: Path, _: Path) -> None:
    _gone(path)
    (path / "inner").mkdir(parents=True)


def _torn(path: Path, _: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _huge(path: Path, _: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(1 << 40)


def _infinite(path: Path, _: Path) -> None:
    """Every number of the file."""
    path.write_bytes(re.sub(rb"(?<=[:\[, ])-?[0-9]+(?:\.[0-9]+)?(?=[,}\]\s])", b"1e999", path.read_bytes()))


def _other_shape(path: Path, _: Path) -> None:
    """JSON that is no record, and a record without its parts."""
    path.write_bytes(b'{"status": "scored"}\n[]\n' if path.suffix == ".jsonl" else b"[1, 2]\n")


WAYS = (_link, _fifo, _folder, _torn, _huge, _infinite, _other_shape)
OF_JSON = (_infinite, _other_shape)
CASES = [
    *((file, way) for file in READ + KEPT for way in WAYS if ".json" in file or way not in OF_JSON),
    *((file, way) for file in FOLDERS for way in WAYS[:2]),
]
READING = (
    ("report", "@"),
    ("report", "+"),
    ("view", "@", "--no-open"),
    ("compare", "@", "+"),
    ("gate", "@", "--policy", "policy.yaml"),
    ("samples", "@", "--json"),
    ("sample", "@", "d1"),
    ("runs", "."),
    ("leaderboard", "."),
    ("export", "@", "--format", "parquet", "-o", "exported"),
    ("push", "@", "--repo", "me/mine", "--dry-run"),
    ("analyse", "judge-agreement", "@", "--labels", "labels.csv", "--score", "rated"),
    ("run", "@", "--dry-run"),
)
WRITING = (("resume", "@"), ("score", "@"), ("play", "--resume", "@"))
COPYING = (("score", "@", "--output", "copy"), ("merge", "@", "--output", "merged"))
"""For these it matters how a file is opened, not what it holds."""
REPLAYING = ("--tasks", "judged.yaml", "--model", "replay/@", "--role", "judge=replay/@", "--output", "replayed")


def _commands(file: str, way: Callable[[Path, Path], None]) -> list[tuple[str, ...]]:
    """The commands that may meet the file."""
    found = [*READING, *WRITING] if file not in KEPT else [*READING[:2], READING[-1], *WRITING[:2]]
    if way in (_link, _fifo, _folder, _huge):
        found += COPYING if file not in KEPT else COPYING[:1]
    if file.startswith(("samples", "calls")):
        found.append(REPLAYING)
    return found


class TooLongError(BaseException):
    """The command hung."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run with every file that a run folder may hold, and a sound one next to it."""
    place = tmp_path_factory.mktemp("made")
    patch = pytest.MonkeyPatch()
    with patch.context() as patched, ChatServer(answer=_answer) as server:
        patched.chdir(place)
        patched.setenv("CREVAL_PLUGINS", "judged,agreement")
        patched.setenv("CREVAL_CACHE", str(place / "cache"))
        patched.setenv("HOSTED_VLLM_API_BASE", server.url)
        patched.setattr(resume_state, "EVERY", 2)
        patched.setattr(jsonl, "_LONGEST", 1 << 16)
        patched.setattr(replay, "_MAX_LINE_BYTES", 1 << 16)
        patched.setattr(table_files, "_LONGEST_LINE", 1 << 16)
        modules = {"creval_judged_plugin.py": HOOKS, "creval_judged_parts.py": PARTS}
        write_distribution(place / "site", "creval-judged", modules, {"judged": "creval_judged_plugin"})
        patched.syspath_prepend(str(place / "site"))
        for name in ("run", "sound"):
            options = RunOptions(output=place / name, roles={"judge": "hosted_vllm/judge"})
            creval.run([write_judged(place, docs=4)], "hosted_vllm/parrot", options)
        (place / "run" / "batches.jsonl").write_text("")
        (place / "run" / "report.html").write_text("")
        assert all((place / "run" / file).exists() for file in READ + KEPT + FOLDERS)
        (place / "policy.yaml").write_text("schema: 1\nrules: [{metric: rated, at_least: 1}]\n")
        (place / "labels.csv").write_text("doc,label\nd1,1\n")
        yield place
    for module in ("creval_judged_plugin", "creval_judged_parts"):
        sys.modules.pop(module, None)


def _answer(request: Any) -> str:
    return "4" if str(request.body["messages"][-1]["content"]).startswith(("Rate", "Kind")) else parrot(request)


def _run(words: tuple[str, ...], place: Path) -> int:
    """Invoke a command as a user types it. Raises TooLongError where it waits for something."""

    def late(*_: object) -> None:
        raise TooLongError(" ".join(words))

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        return invoke([word.replace("@", str(place / "run")).replace("+", str(place / "sound")) for word in words])
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _outside(place: Path) -> dict[str, bytes]:
    return {str(file.relative_to(place)): file.read_bytes() for file in sorted(place.rglob("*")) if file.is_file()}


@pytest.mark.parametrize(("file", "way"), CASES, ids=lambda value: getattr(value, "__name__", value))
def test_every_command_over_a_strange_folder(
    file: str, way: Callable[[Path, Path], None], made: Path, monkeypatch: Any, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private").write_bytes(SECRET)
    place = tmp_path / "here"
    shutil.copytree(made, place, ignore=shutil.ignore_patterns("site", "cache"))
    way(place / "run" / file, outside)
    monkeypatch.chdir(place)
    before = _outside(outside)
    for words in _commands(file, way):
        code = _run(words, place)
        assert code in (0, 1, 2, 10, 11), words
        assert words != ("report", "+") or code == 0, "a bad neighbour"
        assert _outside(outside) == before, words

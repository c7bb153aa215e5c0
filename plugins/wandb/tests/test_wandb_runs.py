"""A finished run is stored in a file that W&B itself reads, offline; without a project there is none."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from creval_wandb.plugin import PROJECT

TASK = """\
schema: 1
task: spelled
version: 1.0.0
title: Spelling
dataset: {source: file, file: words.jsonl, id: word}
prompt: [{role: user, content: "Write {{ word }}."}]
score: {exact_match: word}
metrics: [{name: exact_match, failed: zero}]
baselines: {floor: {fixed: no}, ceiling: {target: word}}
"""


@pytest.fixture
def task(tmp_path: Path) -> str:
    (tmp_path / "spelled.yaml").write_text(TASK)
    (tmp_path / "words.jsonl").write_text('{"word": "sun"}\n{"word": "tea"}\n')
    return str(tmp_path / "spelled.yaml")


def records(file: Path) -> Iterator[Any]:
    """Read the records of W&B's file: LevelDB's log format, blocks of 32 KiB after a header of 7 bytes."""
    from wandb.proto.wandb_internal_pb2 import Record

    data, at, body = file.read_bytes(), 7, b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        _, size, part = struct.unpack("<IHB", data[at : at + 7])
        body += data[at + 7 : at + 7 + size]
        at += 7 + size
        if part in (1, 4):  # whole, or the last part
            record = Record()
            record.ParseFromString(body)
            body = b""
            yield record


def test_a_run_is_in_a_file_of_wandb(task: str, run_task: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import wandb

    for name, value in (("WANDB_MODE", "offline"), ("WANDB_DIR", str(tmp_path)), (PROJECT, "our-project")):
        monkeypatch.setenv(name, value)
    done = run_task(task, "baseline/ceiling")
    wandb.teardown()  # as at the end of the process: only then the file is whole
    (file,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    found = list(records(file))
    runs = [record.run for record in found if record.WhichOneof("record_type") == "run"]
    assert (runs[0].project, runs[0].display_name) == ("our-project", done.folder.name)
    logged = [item for record in found for item in record.history.item]
    values = {"/".join(item.nested_key) or item.key: item.value_json for item in logged}
    assert values["spelled/exact_match"] == "1"
    assert values["spelled/samples/scored"] == "2"


def test_without_a_project_nothing_happens(task: str, run_task: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PROJECT, raising=False)
    monkeypatch.delitem(sys.modules, "creval_wandb.sending", raising=False)
    run_task(task, "baseline/floor")
    assert "creval_wandb.sending" not in sys.modules

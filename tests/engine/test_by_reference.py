"""Docs that may not be stored, and fixed subsets of a dataset."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from support.chat_server import ChatServer, Received
from support.judged import HOOKS, PARTS, write_judged

import creval
from creval.data.dataset import Dataset
from creval.data.rows import ListRows
from creval.engine.references import with_texts
from creval.engine.run import rescore, resume
from creval.errors import DataError, RunError
from creval.plugins.loader import load_plugins
from creval.runs.folder import RunFolder
from creval.runs.jsonl import read_lines
from creval.tasks.index import TaskIndex

SCHEMAS = Path(creval.__file__).parent / "schemas"
JUDGE = {"judge": "hosted_vllm/judge"}
SECRET = "a licensed sentence"


def say(request: Received) -> str:
    return "fine" if request.prompt.startswith("Say") else str(len(request.prompt))


@pytest.fixture
def task(install, tmp_path: Path) -> str:
    install("judged", HOOKS, PARTS)
    path = Path(write_judged(tmp_path, docs=0))
    rows = [{"id": f"d{i}", "word": f"{SECRET} {i}"} for i in range(4)]
    (tmp_path / "judged.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path.write_text(path.read_text().replace("repeats: 1", "repeats: 1\nstore: reference"))
    return str(path)


def texts(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_nothing_of_the_docs_stands_in_the_run_folder(task, monkeypatch, tmp_path, options):
    with ChatServer(answer=say) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        result = creval.run([task], "hosted_vllm/x", options(roles=JUDGE, cache=True))
        assert all(SECRET in r.prompt for r in server.requests if not r.prompt.startswith("Kind"))
        assert SECRET.encode() not in texts(result.folder)
        assert SECRET.encode() not in texts(tmp_path / "cache")
        assert result.results["tasks"][0]["counts"]["scored"] == 4
        for kind, name in (("samples", "sample"), ("calls", "call")):
            schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
            for file in (result.folder / kind).iterdir():
                for line in read_lines(file):
                    jsonschema.Draft202012Validator(schema).validate(line)
        asked = len(server.requests)
        (result.folder / "scores" / "judged.jsonl").unlink()
        assert resume(result.folder).results == result.results
        assert rescore(result.folder).results["tasks"] == result.results["tasks"]
        assert len(server.requests) == asked
        second = creval.run(
            [task], "hosted_vllm/x", options(roles=JUDGE, reuse=(result.folder,), output=tmp_path / "second")
        )
        assert SECRET.encode() not in texts(second.folder)


def test_where_the_data_are_present_the_texts_are_there_again(task, monkeypatch, tmp_path, options):
    with ChatServer(answer=say) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        result = creval.run([task], "hosted_vllm/x", options(roles=JUDGE))
    (found,) = TaskIndex(load_plugins()).expand([task])
    rows = [json.loads(line) for line in (tmp_path / "judged.jsonl").read_text().splitlines()]
    stored = next(iter(RunFolder.open(result.folder).read_samples("judged")))
    assert (stored.doc, "content" in stored.calls[0].messages[0]) == ({}, False)
    whole = with_texts(stored, found, Dataset(ListRows(rows, "rows"), "id"))
    assert SECRET in whole.doc["word"]
    assert whole.calls[0].messages[0] == {"role": "user", "content": f"Say {whole.doc['word']}"}
    rows[int(stored.key.doc[1:])]["word"] = "another"
    with pytest.raises(RunError, match="is not the one that was asked about"):
        with_texts(stored, found, Dataset(ListRows(rows, "rows"), "id"))


# --- a fixed subset ---------------------------------------------------------------------------------


def sampled(rows: list[dict], number: int, seed: int) -> Dataset:
    return Dataset(ListRows(rows, "rows"), "id", sample=(number, seed))


def test_a_subset_depends_on_seed_and_ids_alone():
    rows = [{"id": f"d{i}", "word": str(i)} for i in range(100)]
    some = sampled(rows, 30, 42)
    ids = [doc.id for doc in some]
    assert len(some) == len(set(ids)) == 30
    assert [some[i].id for i in range(30)] == ids
    assert some.by_id(ids[7]) == some[7]
    assert {doc.id for doc in sampled(rows[::-1], 30, 42)} == set(ids)
    assert {doc.id for doc in sampled(rows, 30, 43)} != set(ids)
    assert set(ids) < {doc.id for doc in sampled(rows, 31, 42)}
    whole = Dataset(ListRows(rows, "rows"), "id")
    assert len({whole.fingerprint, some.fingerprint, sampled(rows, 30, 43).fingerprint}) == 3
    with pytest.raises(DataError, match="samples 101 docs, and there are 100"):
        sampled(rows, 101, 42)


def test_the_subset_is_pinned_in_the_task_s_hash(make_task, tmp_path, server, options):
    plain = make_task(docs=20)
    (one,) = TaskIndex(load_plugins()).expand([plain])
    text = Path(plain).read_text()
    hashes = set()
    for seed in (1, 2):
        Path(plain).write_text(text.replace("id: id}", f"id: id, sample: {{n: 5, seed: {seed}}}}}"))
        (task,) = TaskIndex(load_plugins()).expand([plain])
        hashes.add(task.hash)
    assert len(hashes | {one.hash}) == 3
    result = creval.run([plain], "hosted_vllm/parrot", options(base_url=server.url))
    assert result.results["tasks"][0]["planned"] == len(server.requests) == 5


def test_a_metric_may_carry_a_number(make_task, server, options):
    task = Path(make_task(docs=4))
    task.write_text(task.read_text().replace("name: right", "name: right@0.9"))
    assert creval.run([str(task)], "hosted_vllm/parrot", options(base_url=server.url)).metrics("parrot")["right@0.9"]

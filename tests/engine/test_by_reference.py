"""Docs that may not be stored, and fixed subsets of a dataset."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from support.chat_server import Answer, ChatServer, HttpError, Received
from support.judged import HOOKS, PARTS, write_judged

import creval
from creval.data.dataset import Dataset
from creval.data.row_types import ListRows
from creval.engine.run import rescore, resume
from creval.engine.run_options import RunOptions
from creval.errors import DataError, RunError
from creval.plugins.loader import load_plugins
from creval.runs.folder import RunFolder
from creval.runs.jsonl import read_lines
from creval.runs.text_references import settings_reference, with_texts
from creval.tasks.index import TaskIndex
from creval.types.messages import Message
from creval_analyses.workbench import Workbench
from creval_page import samples_cli

SCHEMAS = Path(creval.__file__).parent / "schemas"
JUDGE = {"judge": "hosted_vllm/judge"}
SECRET = "a licensed sentence of the book"


def say(request: Received) -> str:
    return "fine" if request.prompt.startswith("Say") else str(len(request.prompt))


class Quoting:
    """A server whose every answer and error says again what it was asked, in one way or another."""

    def __call__(self, request: Received) -> Answer | HttpError:
        prompt = request.prompt
        if prompt.startswith("Say"):
            if f"{SECRET} 3" in prompt and request.seen < 9:
                return HttpError(400, {"message": f"invalid prompt: {json.dumps(prompt)}"})
            if f"{SECRET} 2" in prompt:
                return Answer("", refusal=f"I cannot say {prompt[4:].upper()}")
            thought = f"They ask: {prompt}"
            return Answer(f"You said: *{prompt.replace(' ', chr(10))}*!", reasoning=thought)
        unreadable = prompt.startswith("Rate") and request.seen == 0
        return Answer(f"no number: {prompt}" if unreadable else "4", reasoning=prompt)


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


def test_nothing_of_the_docs_is_in_the_run_folder(task, monkeypatch, tmp_path, options):
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
    with pytest.raises(RunError, match="is not the one that the run used"):
        with_texts(stored, found, Dataset(ListRows(rows, "rows"), "id"))


def sent_texts(folder: Path) -> list[str]:
    """Every text of a run folder that was sent to a model: doc fields, and contents of messages."""
    found: list[str] = []
    for file in (*(folder / "samples").iterdir(), *(folder / "calls").iterdir()):
        for line in read_lines(file):
            assert not line.get("doc")
            for call in line.get("calls", [line]):
                found += [message["content"] for message in call.get("messages", ()) if "content" in message]
    return found


def test_answers_errors_and_verdicts_are_stored_as_they_are(task, monkeypatch, tmp_path, options):
    """The folder says the same as that of a run with its docs stored, but for docs and messages."""
    with ChatServer(Quoting()) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        given = {"roles": JUDGE, "cache": True, "generation": {"logprobs": True}}
        result = creval.run([task], "hosted_vllm/x", options(**given))
        asked = len(server.requests)
        assert sum(SECRET in r.prompt for r in server.requests) == 8
        assert not any(SECRET in text for text in sent_texts(result.folder))
        counts = result.results["tasks"][0]["counts"]
        assert (counts["scored"], counts["refused"], counts["errored"]) == (2, 1, 1)
        (first,) = result.results["tasks"][0]["first_errors"]
        assert f'invalid prompt: "Say {SECRET} 3' in first["reason"]
        again = rescore(result.folder)
        assert again.results["tasks"][0]["metrics"] == result.results["tasks"][0]["metrics"]
        assert len(server.requests) == asked
        replayed = creval.run(
            [task],
            f"replay/{result.folder}",
            options(roles={"judge": f"replay/{result.folder}"}, output=tmp_path / "replayed"),
        )
        other = Path(task).with_name("open.yaml")
        other.write_text(Path(task).read_text().replace("store: reference", ""))
        opened = creval.run([str(other)], "hosted_vllm/x", options(**given, output=tmp_path / "open"))
    stored, again, whole = (
        {sample.key.doc: sample for sample in creval.open_run(each.folder, as_stored=True).samples()}
        for each in (result, replayed, opened)
    )
    for doc, sample in whole.items():
        for same in (stored[doc], again[doc]) if doc != "d3" else (stored[doc],):
            assert (same.doc, same.answers, same.status) == ({}, sample.answers, sample.status)
            assert SECRET in sample.doc["word"]
            for call, twin in zip(same.calls, sample.calls, strict=True):
                said = call.error, call.reply and call.reply.completions
                assert said == (twin.error, twin.reply and twin.reply.completions)
    assert any(SECRET in answer.replace("\n", " ") for sample in stored.values() for answer in sample.answers)
    scores = [{score.key: score for score in creval.open_run(each.folder).scores()} for each in (result, opened)]
    assert scores[0] == scores[1]


def test_texts_among_the_settings_become_digests():
    settings = {"temperature": 0.5, "seed": 3, "logprobs": True, "stop": [SECRET], "user": SECRET, "top_p": None}
    kept = settings_reference(settings)
    assert {name: kept[name] for name in ("temperature", "seed", "logprobs", "top_p")} == {
        "temperature": 0.5,
        "seed": 3,
        "logprobs": True,
        "top_p": None,
    }
    assert SECRET not in json.dumps(kept)
    assert settings_reference(kept) == kept


def test_what_an_analysis_asks_about_such_docs_is_not_stored_either(task, monkeypatch, options):
    with ChatServer(answer=lambda request: f"You ask: {request.prompt}") as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        result = creval.run([task], "hosted_vllm/x", options(roles={"judge": "hosted_vllm/judge"}))
        run = creval.open_run(result.folder)
        (sample, *_) = run.samples()

        def ask() -> str:
            bench = Workbench(RunOptions(roles=JUDGE))
            bench.keep_calls(run)
            message = Message("user", f"How novel is {sample.doc['word']}?")
            return bench.work(lambda: bench.ask("judge", [message], sample.key)).text

        assert ask() == ask() == f"You ask: How novel is {sample.doc['word']}?"
    assert any(
        line.get("asked") == {"step": "analysis"} for line in read_lines(result.folder / "calls" / "judge.jsonl")
    )
    assert not any(SECRET in text for text in sent_texts(result.folder))


def test_a_sample_is_shown_with_its_texts_where_that_is_asked_for(task, monkeypatch, options):
    with ChatServer(Quoting()) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        folder = str(creval.run([task], "hosted_vllm/x", options(roles=JUDGE)).folder)
    shown = [
        CliRunner().invoke(samples_cli.sample, [folder, "d0", *more])
        for more in ([], ["--texts"], ["--texts", "--json"])
    ]
    assert [each.exit_code for each in shown] == [0, 0, 0]
    assert [f"Say {SECRET} 0" in each.output for each in shown] == [False, True, True]
    assert "(--texts)" in shown[0].output
    assert json.loads(shown[2].output)["doc_fields"]["word"] == f"{SECRET} 0"


def test_without_the_data_the_folder_is_read_as_it_is(task, monkeypatch, tmp_path, options):
    with ChatServer(Quoting()) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        result = creval.run([task], "hosted_vllm/x", options(roles=JUDGE))
    (tmp_path / "judged.jsonl").unlink()
    with pytest.raises(DataError):
        list(creval.open_run(result.folder).samples())
    stored = creval.open_run(result.folder, as_stored=True)
    assert all(sample.doc == {} for sample in stored.samples())
    assert len(list(stored.scored())) == 4


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
    with pytest.raises(DataError, match="samples 101 docs, but the data contain 100"):
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

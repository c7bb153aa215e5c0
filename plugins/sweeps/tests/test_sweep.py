"""`creval run FILE`: several models from one file, killed and resumed, and what a run leaves to be repeated."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from support.chat_server import Answer, ChatServer, Hang, HttpError, Received
from support.commands import start, write_spelling

from creval.cli.main import invoke
from creval.engine.snapshot import task_yaml
from creval.errors import ModelError, TaskError, UsageError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_sweeps.run_file import read_run_file

MODELS = ("m/one", "m/two", "m/three")
DOCS = 12


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_spelling(tmp_path, {f"word{i}": "ok" if i % 2 else "no" for i in range(DOCS)})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(answer="ok", latency=0.1) as running:
        yield running


def write_sweep(folder: Path, server: ChatServer, **more: object) -> Path:
    data = {"tasks": ["./spelling.yaml"], "models": list(MODELS), "base_url": server.url, "concurrency": 2}
    (folder / "sweep.yaml").write_text(yaml.safe_dump({**data, "output": "all", **more}))
    return folder / "sweep.yaml"


def lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def asked(server: ChatServer) -> Counter[str]:
    return Counter(str(request.body["model"]) for request in server.requests)


def wait_for_lines(process: Any, files: Sequence[Path], count: int) -> None:
    """Wait until each file has so many samples; the server holds the other calls."""
    while process.poll() is None and not all(len(lines_of(file)) == count for file in files):
        time.sleep(0.02)
    assert process.poll() is None


@pytest.mark.kills
def test_a_killed_sweep_of_three_models_continues_with_what_is_missing(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sweep(folder, server)
    server.hold(DOCS + 4)
    process = start(folder, "run", "sweep.yaml")
    second = folder / "all" / "m_two" / "samples" / "spelling.jsonl"
    wait_for_lines(process, [second], 4)
    server.wait_for(DOCS + 4 + 2)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    server.release()
    first = (folder / "all" / "m_one" / "samples" / "spelling.jsonl").read_bytes()
    kept = len(lines_of(second))
    assert kept == 4 and not (folder / "all" / "m_three").exists()
    before = asked(server)
    assert invoke(["run", "sweep.yaml"]) == 0
    shown = capsys.readouterr()
    assert "m/one: already done" in shown.err and "m/two: resumes" in shown.err and "m/three: starts" in shown.err
    after = asked(server) - before
    assert after == {"m/two": DOCS - kept, "m/three": DOCS}
    assert (folder / "all" / "m_one" / "samples" / "spelling.jsonl").read_bytes() == first
    (row,) = [line for line in shown.out.splitlines() if line.split()[:2] == ["spelling", "accuracy"]]
    assert all(model in shown.out for model in MODELS) and row.count("0.500 (") == 3  # one table, a column each
    for name in ("m_one", "m_two", "m_three"):
        rows = lines(folder / "all" / name / "samples" / "spelling.jsonl")
        assert sorted(str(row["doc_id"]) for row in rows) == sorted(f"w{i}" for i in range(DOCS))
    count = len(server.requests)
    assert invoke(["run", "all"]) == 0
    assert len(server.requests) == count


def lines_of(file: Path) -> list[bytes]:
    return [line for line in file.read_bytes().split(b"\n") if line.endswith(b"}")] if file.exists() else []


def test_a_run_is_repeated_by_its_folder_alone_elsewhere(folder: Path, server: ChatServer) -> None:
    assert (
        invoke(["--tasks", "spelling.yaml", "-m", "m/x", "--base-url", server.url, "--limit", "3", "-o", "made"]) == 0
    )
    moved = folder / "elsewhere" / "made"
    shutil.copytree(folder / "made", moved)
    for file in ("spelling.yaml", "words.jsonl"):
        (folder / file).unlink()
    shutil.rmtree(folder / "made")
    old = json.loads((moved / "results.json").read_text())
    assert invoke(["score", str(moved)]) == 0  # a colleague rescoring without the original files
    assert json.loads((moved / "results.json").read_text())["tasks"] == old["tasks"]
    for part in ("run.json", "results.json", "samples", "scores"):
        path = moved / part
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert invoke(["run", str(moved)]) == 0  # ... and one who repeats it from run.yaml and tasks/
    new = json.loads((moved / "results.json").read_text())
    for task in (*old["tasks"], *new["tasks"]):
        task.pop("usage", None), task.pop("usage_by_role", None)
    assert new["tasks"] == old["tasks"]


def test_a_run_of_something_else_in_the_folder_is_refused(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sweep(folder, server, models=["m/one"], docs=["w1"])
    assert invoke(["run", "sweep.yaml"]) == 0
    write_sweep(folder, server, models=["m/one"], docs=["w2"])
    assert invoke(["run", "sweep.yaml"]) == 2
    assert "differs in docs" in capsys.readouterr().err


def test_one_model_that_fails_stops_no_other(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sweep(
        folder, server, models=[{"model": "m/lost", "base_url": "http://127.0.0.1:9/v1"}, "m/two"], max_retries=0
    )
    assert invoke(["run", "sweep.yaml"]) == 1
    shown = capsys.readouterr()
    assert "12 samples errored" in shown.err and "creval run all" in shown.err
    assert json.loads((folder / "all" / "m_two" / "results.json").read_text())["status"] == "done"


def test_missing_keys_are_reported_before_the_first_call(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    models = ["-m", "baseline/floor", "-m", "openai/x", "-m", "openrouter/a/b"]
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    assert invoke(["--tasks", "rat", *models, "-o", "out"]) == 2
    said = capsys.readouterr().err
    assert "2 models cannot be called" in said and "OPENAI_API_KEY" in said and "OPENROUTER_API_KEY" in said
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tasks: [rat]\nmodel: a/b\nallow_code_execution: true\n", "f.yaml:3:1: [allow_code_execution]"),
        ("task: [rat]\nmodel: a/b\n", "Did you mean 'tasks'?"),
        ("tasks: [rat]\n", "model and models are both missing"),
        ("tasks: [rat]\nmodel: a/b\nmodels: [c/d]\n", "are both set"),
        ("tasks: []\nmodel: a/b\n", "[tasks]"),
        ("tasks: rat\nmodel: a/b\nlimit: 2\ndocs: [x]\n", "cannot be combined with named docs"),
        ("tasks: rat\nmodel: a/b\ngeneration: {temprature: 1}\n", "temperature"),
        ("tasks: rat\nmodels: [{model: a/b, limit: 3}]\n", "unknown key 'limit'"),
    ],
)
def test_what_is_wrong_in_a_run_file_is_reported_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "f.yaml").write_text(text)
    with pytest.raises((TaskError, UsageError)) as caught:
        read_run_file(tmp_path / "f.yaml")
    assert said in str(caught.value) and "f.yaml" in str(caught.value)


def test_docs_are_chosen_by_id_and_by_file(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "docs.csv").write_text("doc;status\nw3;unparsed\nw4;scored\nw3;scored\n")
    base = ["--tasks", "spelling.yaml", "-m", "m/x", "--base-url", server.url]
    assert invoke([*base, "--sample-id", "w7", "--docs", "docs.csv", "-o", "some"]) == 0
    assert sorted(str(row["doc_id"]) for row in lines(folder / "some/samples/spelling.jsonl")) == ["w3", "w4", "w7"]
    assert yaml.safe_load((folder / "some" / "run.yaml").read_text())["docs"] == ["w7", "w3", "w4"]
    capsys.readouterr()
    assert invoke([*base, "--sample-id", "w77"]) == 2
    assert "Did you mean 'w7'?" in capsys.readouterr().err


def test_every_installed_task_survives_being_written_as_one_file(tmp_path: Path) -> None:
    index = TaskIndex(load_plugins())
    names = [
        h.qualified for h in index.headers() if h.kind == "task" and (h.variant is None or h.variant.endswith("1"))
    ]
    assert len(names) > 20
    from creval.tasks.yaml.nodes import plain
    from creval.tasks.yaml.yaml_reader import read_yaml

    for name in names:
        task = index.load(name)
        file = tmp_path / "copy.yaml"
        file.write_text(task_yaml(task), encoding="utf-8")
        document = read_yaml(file)
        assert document.root is not None and not document.problems, name
        assert plain(document.root) == task.resolved, name


def release_when_begun(server: ChatServer, runs: Sequence[Path]) -> None:
    """Let the server answer once every run has begun, however long each takes to open."""
    end = time.monotonic() + 60
    while not all((run / "run.json").exists() for run in runs) and time.monotonic() < end:
        time.sleep(0.02)
    server.release()


@pytest.mark.parametrize("limit", [3, 5])
def test_several_models_at_once_keep_the_limit_of_their_provider(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str], limit: int
) -> None:
    models = [f"m/{name}" for name in "abcd"]
    write_sweep(folder, server, models=models, concurrency=limit, max_models=4)
    server.hold(0)
    Thread(target=release_when_begun, args=(server, [folder / "all" / f"m_{name}" for name in "abcd"])).start()
    assert invoke(["run", "sweep.yaml"]) == 0
    assert asked(server) == dict.fromkeys(models, DOCS)
    order = [request.body["model"] for request in server.requests]
    assert sum(one != other for one, other in pairwise(order)) > 3  # they do not follow each other
    assert server.most_in_flight == limit
    shown = capsys.readouterr()
    assert all(f"{model}: generate: 0 of {DOCS} done" in shown.err for model in models)
    assert all(model in shown.out for model in models)
    assert yaml.safe_load((folder / "all" / "sweep.yaml").read_text())["max_models"] == 4


def test_a_model_that_fails_or_is_refused_by_429_stops_no_other_at_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = ["m/full", {"model": "m/lost", "base_url": "http://127.0.0.1:9/v1"}, "m/three", "m/four"]
    with ChatServer(lambda request: HttpError(429) if request.body["model"] == "m/full" else None, answer="ok") as one:
        write_sweep(folder, one, models=models, max_retries=0, rate_limit_wait=1, max_models=4)
        assert invoke(["run", "sweep.yaml"]) == ModelError.exit_code
        assert one.counts["429"] > 0
    for name in ("m_three", "m_four"):
        counts = json.loads((folder / "all" / name / "results.json").read_text())["tasks"][0]["counts"]
        assert counts["scored"] == DOCS
    said = capsys.readouterr().err
    assert "12 samples errored" in said and "creval run all" in said


@pytest.mark.parametrize("at_once", [1, 3])
def test_the_limit_of_calls_holds_over_all_models_and_when_it_is_resumed(
    folder: Path, server: ChatServer, at_once: int
) -> None:
    write_sweep(folder, server, max_calls=DOCS + 5, max_models=at_once)
    assert invoke(["run", "sweep.yaml"]) == 3
    assert len(server.requests) == DOCS + 5
    assert invoke(["run", "sweep.yaml"]) == 3
    assert len(server.requests) == DOCS + 5
    write_sweep(folder, server, max_calls=3 * DOCS, max_models=at_once)
    assert invoke(["run", "sweep.yaml"]) == 0
    assert asked(server) == dict.fromkeys(MODELS, DOCS)


@pytest.mark.parametrize("at_once", [1, 2])
def test_a_model_s_own_limit_holds_within_that_of_all_and_where_a_run_has_no_samples_yet(
    folder: Path, server: ChatServer, at_once: int
) -> None:
    models = [{"model": "m/one", "max_calls": 3}, {"model": "m/two", "max_calls": None}]
    write_sweep(folder, server, models=models, max_calls=3 + 5, max_models=at_once)
    assert invoke(["run", "sweep.yaml"]) == 3
    assert asked(server) == {"m/one": 3, "m/two": 5}
    (folder / "all" / "m_two" / "samples" / "spelling.jsonl").unlink()  # killed before the first one
    assert invoke(["run", "sweep.yaml"]) == 3
    assert asked(server) == {"m/one": 3, "m/two": 5}  # by the book of the attempt


@pytest.mark.parametrize("at_once", [1, 3])
def test_the_limit_of_cost_holds_over_all_models(folder: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    models = [f"openrouter/a/{name}" for name in "xyz"]
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-none")
    with ChatServer(lambda _: Answer("ok", cost=0.5)) as server:
        write_sweep(folder, server, models=models, max_cost=10, max_models=at_once, concurrency=2)
        assert invoke(["run", "sweep.yaml"]) == 3
    assert 18 <= len(server.requests) <= 21  # 20 answers of half a dollar, and what was in flight


@pytest.mark.kills
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_several_models_at_once_are_interrupted_and_resumed(folder: Path, number: int) -> None:
    """The server answers four calls of each model: of the rest, 20 are in flight and the last four wait for a place."""
    answered: Counter[str] = Counter()
    held = True

    def script(request: Received) -> Hang | None:
        answered[request.body["model"]] += 1
        return Hang() if held and answered[request.body["model"]] > 4 else None

    with ChatServer(script, answer="ok") as server:
        write_sweep(folder, server, max_models=3, concurrency=20)
        process = start(folder, "run", "sweep.yaml")
        files = [folder / "all" / name / "samples" / "spelling.jsonl" for name in ("m_one", "m_two", "m_three")]
        wait_for_lines(process, files, 4)
        server.wait_for(3 * 4 + 20)
        os.kill(process.pid, number)
        _, said = process.communicate()
        held = False
        check_interrupted(server, files, number, process.returncode, said)


def check_interrupted(server: ChatServer, files: Sequence[Path], number: int, code: int, said: str) -> None:
    kept = [len(lines_of(file)) for file in files]
    assert kept == [4, 4, 4]
    if number == signal.SIGINT:
        assert code == 130
        assert "Finished samples are saved. Resume with: creval run all" in said
        statuses = [json.loads((file.parents[1] / "run.json").read_text())["status"] for file in files]
        assert statuses == ["interrupted"] * 3
    before = asked(server)
    assert invoke(["run", "all"]) == 0
    again = asked(server) - before
    assert [again[model] for model in MODELS] == [DOCS - each for each in kept]


def test_models_run_at_once_by_the_executor_local_alone(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sweep(folder, server, max_models=2)
    assert invoke(["run", "sweep.yaml", "--executor", "ray"]) == 2
    assert "only with the executor local" in capsys.readouterr().err
    assert not server.requests


_JUDGE = """\
roles:
  judge:
    model: openai/task-s-own
    generation: {temperature: 0, max_tokens: 8}
    prompts:
      rate: [{role: user, content: "Rate {{ answer }} for {{ word }}"}]
score: {judge: {prompt: rate, scale: [1, 5]}}
metrics:
  - {name: judge, failed: exclude, primary: true}
"""


def write_judge(folder: Path) -> None:
    """Let a judge rate the spelling."""
    text = (folder / "spelling.yaml").read_text()
    (folder / "spelling.yaml").write_text(text[: text.index("score:")] + _JUDGE)


def test_a_role_keeps_its_own_address_key_settings_and_limit_over_all_models(
    folder: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_judge(folder)
    monkeypatch.setenv("JUDGE_KEY", "sk-of-the-judge-0123456789")
    with ChatServer(answer="4", latency=0.05) as judge:
        own = {"model": "openai/strict", "base_url": judge.url, "api_key_env": "JUDGE_KEY", "concurrency": 2}
        roles = {"judge": {**own, "generation": {"temperature": 1}}}
        write_sweep(folder, server, roles=roles, concurrency=12, max_models=3)
        monkeypatch.setenv("CREVAL_STATE", str(folder / "state"))
        assert invoke(["run", "sweep.yaml", "--trust", "sweep.yaml"]) == 0
        assert asked(server) == dict.fromkeys(MODELS, DOCS)
        assert asked(judge) == {"strict": 3 * DOCS} and judge.most_in_flight == 2
        assert {request.body["temperature"] for request in judge.requests} == {1}
        assert {request.headers["Authorization"] for request in judge.requests} == {"Bearer sk-of-the-judge-0123456789"}
        shutil.rmtree(folder / "all" / "m_two")
        assert invoke(["run", "all"]) == 0  # by the file that the sweep left
        assert asked(judge) == {"strict": 4 * DOCS} and asked(server)["m/two"] == 2 * DOCS


def test_a_dry_run_of_a_sweep_is_one_table_with_a_total_and_names_all_that_is_missing(
    folder: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_judge(folder)
    for name in ("OPENAI_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    models = [{"model": "m/one", "base_url": server.url}, "openai/gpt-4o-mini", "openrouter/no/such"]
    write_sweep(folder, server, models=models, base_url=None)
    assert invoke(["run", "sweep.yaml", "--dry-run"]) == 2
    said = capsys.readouterr()
    assert said.out.count("what to expect") == 1
    rows = [line.split() for line in said.out.splitlines()]
    assert [
        row[0] for row in rows if row and row[0] in ("m/one", "openai/gpt-4o-mini", "openrouter/no/such", "total")
    ] == [*(["m/one"] * 2), *(["openai/gpt-4o-mini"] * 2), *(["openrouter/no/such"] * 2), "total"]
    assert " ".join(rows[[row[:1] for row in rows].index(["total"])]).startswith(f"total {3 * DOCS} ")
    assert "total" in said.out and "not known" in said.out.splitlines()[-2]
    assert said.err.count("OPENROUTER_API_KEY") and "openrouter/no/such: target of spelling" in " ".join(
        said.err.split()
    )
    assert "judge of spelling: " in said.err and said.err.count("judge of spelling") == 1  # all models lack it
    assert not server.requests and not (folder / "all").exists()


def test_a_dry_run_offline_names_the_task_and_role_whose_address_it_forbids(
    folder: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_judge(folder)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-0123456789")
    base = ["--tasks", "spelling.yaml", "--dry-run", "--offline", "-m"]
    assert invoke([*base, "m/one", "--base-url", server.url]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "judge of spelling: " in said and "--offline forbids" in said and "target" not in said
    assert invoke([*base, "openai/gpt-4o-mini"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "target of spelling: " in said and "judge of spelling: " in said and said.count("forbids") == 2

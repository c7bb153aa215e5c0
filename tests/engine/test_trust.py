"""A run folder or run file of somebody else decides nothing that acts on this machine, until the user trusts it."""

from __future__ import annotations

import json
import logging
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import creval
from creval.cli.main import invoke
from creval.engine.run import rescore, resume
from creval.engine.run_options import Rescoring, RunOptions
from creval.errors import RunError, TaskError
from creval.plugins.loader import load_plugins
from creval.runs import trust
from creval.runs.trust import Claims, UntrustedError
from creval.tasks.index import TaskIndex
from creval.user_folders import State
from creval_shards.merge_runs import merge_runs
from creval_sweeps.run_file import read_run_file

MODEL = "hosted_vllm/parrot"
AWAY = "http://198.51.100.7:9/v1"
KEY = "sk-mine-0123456789abcdef"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of the test's own, and a key that must not leave."""
    monkeypatch.setenv("CREVAL_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", KEY)
    trust._TRUSTED.set(frozenset())
    return tmp_path / "state"


@pytest.fixture
def nothing_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server of the test counts as one on the network."""
    monkeypatch.setattr(trust, "is_loopback", lambda address: False)


@pytest.fixture
def folder(make_task: Any, server: Any, options: Any) -> Path:
    """A run that was stopped by its budget, as this installation made it."""
    return creval.run([make_task()], MODEL, options(base_url=server.url, max_calls=3)).folder


def change(folder: Path, **options: Any) -> None:
    """What somebody else writes into run.json."""
    data = json.loads((folder / "run.json").read_text())
    data["roles"] |= options.get("roles", {})
    data["options"] |= options
    (folder / "run.json").write_text(json.dumps(data))


def of_somebody_else(folder: Path) -> Path:
    """The run as another installation made it: with a signature that is none here."""
    data = json.loads((folder / "run.json").read_text())
    data["made_here"] = "0" * 64
    (folder / "run.json").write_text(json.dumps(data))
    return folder


FOREIGN: dict[str, Callable[[Path], dict[str, Any]]] = {
    "an address": lambda place: {"base_url": AWAY},
    "an executor": lambda place: {"executor": "ray://198.51.100.7:10001"},
    "variables for an executor": lambda place: {"executor_options": {"env": "OPENAI_API_KEY,HOME"}},
    "a folder of caches": lambda place: {"cache_folder": str(place / "elsewhere"), "cache": True},
    "data": lambda place: {"data": {"parrot": str(place / "private.jsonl")}},
    "verdicts of a run": lambda place: {"reuse": [str(place / "private")]},
    "another address in a setting": lambda place: {"generation": {"extra": {"api_base": AWAY}}},
    "a file as a model": lambda place: {"roles": {"judge": f"replay/{place / 'private.jsonl'}"}},
    "a file as a model, with a space before it": lambda place: {"roles": {"judge": f" replay/{place}/private.jsonl"}},
    "a file up from a folder": lambda place: {"resources": {"embedding": "sentence-transformers/a/../../private"}},
    "a path in an option of a model": lambda place: {
        "roles": {"judge": f"hf/ada/x?dtype=auto&adapter={place}/private"}
    },
    "a path from home in an option": lambda place: {"roles": {"judge": "hf/ada/x@main?adapter=~/private"}},
    "a path up in an option": lambda place: {"resources": {"embedding": "hf/ada/x?adapter=a/../../private"}},
    "a folder with options": lambda place: {"roles": {"judge": f"hf/{place}/private?device=cpu"}},
    "an address as a model": lambda place: {"roles": {"judge": "huggingface/https://198.51.100.7/v1"}},
}
SEEN_FROM_HERE: dict[str, dict[str, Any]] = {
    "data": {"data": {"parrot": "private.jsonl"}},
    "a file as a model": {"roles": {"judge": "replay/private.jsonl"}},
    "a file of words": {"resources": {"wordlist": "file/private.jsonl"}},
    "verdicts of a run": {"reuse": ["private"]},
    "a folder of caches": {"cache_folder": "elsewhere"},
}
"""Paths that are in the run folder as seen from there, and elsewhere as they are opened."""


@pytest.mark.parametrize(
    ("what", "command"), [*((what, resume) for what in FOREIGN), *((what, rescore) for what in list(FOREIGN)[1:])]
)
def test_what_a_strangers_run_names_does_not_act(
    what: str, command: Any, folder: Path, server: Any, tmp_path: Path
) -> None:
    (tmp_path / "private.jsonl").write_text('{"id": "secret", "word": "mine"}\n')
    change(folder, **FOREIGN[what](tmp_path))
    before, asked = sorted(tmp_path.rglob("*")), len(server.requests)
    with pytest.raises(UntrustedError, match="was not made here") as caught:
        command(folder)
    assert f"creval {'resume' if command is resume else 'score'} {folder} --trust {folder}" in str(caught.value)
    assert len(server.requests) == asked and sorted(tmp_path.rglob("*")) == [*before]


@pytest.mark.parametrize("what", SEEN_FROM_HERE)
def test_a_strangers_relative_path_is_taken_from_where_it_is_opened(what: str, folder: Path) -> None:
    change(folder, **SEEN_FROM_HERE[what])
    with pytest.raises(UntrustedError, match="was not made here"):
        resume(folder)


@pytest.mark.parametrize("what", FOREIGN)
def test_what_a_strangers_run_file_names_does_not_act(
    what: str, make_task: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_task()
    own = tmp_path / "own"
    shutil.copytree(tmp_path, own, ignore=shutil.ignore_patterns("own", "state"))
    named = FOREIGN[what](tmp_path)
    named.pop("cache", None)
    if "cache_folder" in named:
        named = {"output": str(tmp_path / "elsewhere")}
    file = own / "run.yaml"
    file.write_text(yaml.safe_dump({"tasks": "./parrot.yaml", "model": MODEL, **named}))
    assert invoke(["run", str(file)]) == 2
    said = capsys.readouterr().err
    assert "names things that act on this machine" in said
    assert f"creval run {file} --trust {file}" in said
    assert not (tmp_path / "elsewhere").exists() and not (own / "runs").exists()


def test_an_address_of_one_model_of_a_sweep_needs_trust(make_task: Any, tmp_path: Path) -> None:
    make_task()
    models = [{"model": MODEL, "base_url": AWAY}, "baseline/floor"]
    (tmp_path / "sweep.yaml").write_text(yaml.safe_dump({"tasks": "./parrot.yaml", "models": models}))
    claims = read_run_file(tmp_path / "sweep.yaml").claims
    assert claims is not None
    with pytest.raises(UntrustedError, match=r"models.base_url: http://198.51.100.7"):
        claims.check("creval run sweep.yaml")


@pytest.mark.usefixtures("nothing_is_near")
def test_a_run_made_here_is_resumed_by_one_word(folder: Path, server: Any, tmp_path: Path) -> None:
    """Also where its folder is another one by now."""
    moved = folder.rename(tmp_path / "moved")
    change(moved, max_calls=None)
    assert resume(moved).results["tasks"][0]["counts"]["scored"] == 8
    assert {request.headers["Authorization"] for request in server.requests} == {f"Bearer {KEY}"}


@pytest.mark.usefixtures("nothing_is_near")
def test_a_run_keeps_its_maker_when_it_is_resumed_by_another_executor(folder: Path) -> None:
    resume(folder, max_calls=4, executor="local", executor_options={})
    rescore(folder, Rescoring(resources={}))
    assert resume(folder, max_calls=100).results["tasks"][0]["counts"]["scored"] == 8


@pytest.mark.usefixtures("nothing_is_near")
def test_shards_made_here_are_one_run_made_here(make_task: Any, server: Any, options: Any, tmp_path: Path) -> None:
    task = make_task()
    for number in (1, 2):
        given = options(base_url=server.url, shard=f"{number}/3", output=tmp_path / f"part{number}")
        creval.run([task], MODEL, given)
    merge_runs([tmp_path / "part1", tmp_path / "part2"], tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "again")
    assert resume(tmp_path / "whole").results["tasks"][0]["counts"]["scored"] == 8
    assert invoke(["run", str(tmp_path / "again")]) == 0


@pytest.mark.usefixtures("nothing_is_near")
def test_a_run_merged_of_a_strangers_shard_is_not_made_here(
    make_task: Any, server: Any, options: Any, tmp_path: Path
) -> None:
    task = make_task()
    for number in (1, 2):
        given = options(base_url=server.url, shard=f"{number}/3", output=tmp_path / f"part{number}")
        creval.run([task], MODEL, given)
    change(tmp_path / "part1", base_url=AWAY)
    merge_runs([tmp_path / "part1", tmp_path / "part2"], tmp_path / "whole")
    with pytest.raises(UntrustedError):
        resume(tmp_path / "whole")
    with pytest.raises(UntrustedError):
        read_run_file(tmp_path / "whole" / "run.yaml").claims.check("creval run whole")  # type: ignore[union-attr]
    change(tmp_path / "part1", data={"parrot": "/etc/private.jsonl"})
    with pytest.raises(UntrustedError, match="creval merge"):
        merge_runs([tmp_path / "part1", tmp_path / "part2"], tmp_path / "other")


@pytest.mark.usefixtures("nothing_is_near")
def test_the_address_on_the_command_line_is_enough(folder: Path, server: Any) -> None:
    of_somebody_else(folder)
    with pytest.raises(UntrustedError):
        resume(folder, max_calls=100)
    assert resume(folder, max_calls=100, base_url=server.url).results["tasks"][0]["counts"]["scored"] == 8


@pytest.mark.usefixtures("nothing_is_near")
def test_a_run_is_trusted_once(folder: Path, capsys: pytest.CaptureFixture[str], state: Path) -> None:
    of_somebody_else(folder)
    assert invoke(["resume", str(folder), "--max-calls", "100"]) == 2
    said = capsys.readouterr().err
    command = said.partition("trust it: creval ")[2].split()
    assert command == ["resume", str(folder), "--max-calls", "100", "--trust", str(folder)]
    trust._TRUSTED.set(frozenset())
    assert invoke(command) == 0
    assert "trusted: base_url: http://127.0.0.1" in capsys.readouterr().err
    trust._TRUSTED.set(frozenset())
    of_somebody_else(folder)
    assert invoke(["resume", str(folder)]) == 0
    for place in state.rglob("*"):
        assert stat.S_IMODE(place.stat().st_mode) == (0o700 if place.is_dir() else 0o600)


@pytest.mark.usefixtures("nothing_is_near")
def test_a_state_that_cannot_be_written_is_reported(
    make_task: Any, server: Any, options: Any, monkeypatch: Any, caplog: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("taken").write_text("a file")
    monkeypatch.setenv("CREVAL_STATE", "taken/state")
    with caplog.at_level(logging.WARNING):
        folder = creval.run([make_task()], MODEL, options(base_url=server.url, max_calls=3)).folder
    assert "taken/state cannot be written" in caplog.text and "--trust will be needed" in caplog.text
    assert "made_here" not in json.loads((folder / "run.json").read_text())
    caplog.clear()
    trust._TRUSTED.set(frozenset())
    assert invoke(["resume", str(folder), "--max-calls", "100", "--trust", str(folder)]) == 0
    assert "the trust is not remembered" in caplog.text


def test_a_key_that_others_can_read_is_none(state: Path, caplog: Any) -> None:
    assert State().key(make=True) is not None
    (state / "key").chmod(0o644)
    assert State().key(make=False) is None and "chmod 600" in caplog.text


def test_an_executor_on_the_command_line_has_not_the_options_of_a_stranger(folder: Path) -> None:
    change(folder, executor="ray://198.51.100.7:10001", executor_options={"env": "HOME"}, max_calls=None)
    finished = resume(folder, executor="local")
    assert finished.results["tasks"][0]["counts"]["scored"] == 8
    assert json.loads((folder / "run.json").read_text())["options"]["executor_options"] == {}


def test_a_strangers_task_is_read_from_his_folder(folder: Path, tmp_path: Path, caplog: Any) -> None:
    of_somebody_else(folder)
    task = tmp_path / "parrot.yaml"
    task.write_text(task.read_text().replace("Say {{ word }}", "Tell {{ word }}"))
    assert resume(folder, max_calls=100).results["tasks"][0]["counts"]["scored"] == 8
    assert "the run's own copy is used" in caplog.text
    (folder / "tasks" / "parrot.yaml").unlink()
    with pytest.raises(UntrustedError, match="contains no copy"):
        resume(folder)


def test_a_strangers_run_by_reference_opens_no_file_elsewhere(
    make_task: Any, server: Any, options: Any, tmp_path: Path
) -> None:
    task = make_task(extra="store: reference\n")
    folder = creval.run([task], MODEL, options(base_url=server.url)).folder
    assert next(creval.open_run(folder).samples()).doc["word"]
    change(folder, data={"parrot": str(tmp_path / "private.jsonl")})
    with pytest.raises(UntrustedError, match=r"data\.parrot"):
        next(creval.open_run(folder).samples())


def test_a_copy_of_a_task_that_is_a_link_is_not_read(folder: Path, tmp_path: Path) -> None:
    of_somebody_else(folder)
    (folder / "tasks" / "parrot.yaml").unlink()
    (folder / "tasks" / "parrot.yaml").symlink_to(tmp_path / "parrot.yaml")
    with pytest.raises(RunError, match="is a link"):
        resume(folder, max_calls=100)


@pytest.mark.parametrize(
    ("model", "address", "known"),
    [
        ("openai/gpt-5-mini", "https://api.openai.com/v1", True),
        ("openai/gpt-5-mini", "http://api.openai.com/v1", False),
        ("openai/gpt-5-mini", "https://openrouter.ai/api/v1", False),
        ("openai/gpt-5-mini", "https://api.openai.com.example.org/v1", False),
        ("openai/gpt-5-mini", "https://api.openai.com@198.51.100.7/v1", False),
        ("anything", "http://localhost:8000/v1", True),
        ("anything", "http://[::1]:8000/v1", True),
        ("anything", "http://localhost.example.org/v1", False),
        ("hosted_vllm/parrot", "http://node7:8000/v1", True),
        ("openai/gpt-5-mini", "http://node7:8000/v1", False),
    ],
)
def test_where_a_key_may_go_unasked(model: str, address: str, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_BASE", "http://node7:8000/v1")
    data = {"tasks": "drat", "model": model, "base_url": address}
    assert list(Claims.of_file(data, Path("run.yaml")).named()) is not known


def test_no_task_file_says_where_calls_go(make_task: Any) -> None:
    task = make_task()
    text = Path(task).read_text().replace("max_tokens: 16}", "max_tokens: 16, extra: {api_base: 'http://x/v1'}}")
    Path(task).write_text(text)
    with pytest.raises(TaskError, match="a task file cannot set where calls go"):
        TaskIndex(load_plugins()).expand([task])


def test_options_of_a_damaged_run_are_one_message(folder: Path) -> None:
    change(folder, concurrency="many")
    with pytest.raises(RunError, match="see options/concurrency"):
        resume(folder)
    assert RunOptions().concurrency == 64

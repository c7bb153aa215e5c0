"""Pushing and pulling against a hub that speaks the Hub's protocol."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from aiohttp import web
from support.commands import creval as command
from support.hub_runs import TOKEN, make_run
from support.hub_server import HubServer

import creval
from creval.cli.main import invoke
from creval.errors import DataError, MissingPartError, RunError, UnknownNameError, UsageError
from creval_hub.bundle import published_name
from creval_hub.pull import pull_runs
from creval_hub.push import plan_push, push_runs

REPO = "ada/runs"


def test_a_second_push_changes_nothing_and_a_changed_run_makes_one_commit(hub: HubServer, run_folder: Path) -> None:
    first = push_runs([creval.open_run(run_folder)], REPO)
    commits = hub.dataset(REPO).commits
    before = len(commits)
    assert "README.md" in first.changed and f"results/{first.names[0]}.parquet" in first.changed

    again = push_runs([creval.open_run(run_folder)], REPO)
    assert again.changed == () and len(commits) == before

    results = json.loads((run_folder / "results.json").read_text())
    results["tasks"][0]["metrics"][0]["value"] = 0.25
    (run_folder / "results.json").write_text(json.dumps(results))
    changed = push_runs([creval.open_run(run_folder)], REPO)
    assert len(commits) == before + 1
    assert set(changed.changed) == {f"runs/{first.names[0]}/results.json", f"results/{first.names[0]}.parquet"}


def test_a_pulled_run_opens_and_says_the_same(hub: HubServer, run_folder: Path, tmp_path: Path) -> None:
    pushed = push_runs([creval.open_run(run_folder)], REPO)
    ((folder, new),) = pull_runs(REPO, tmp_path / "back")
    assert new and folder.name == pushed.names[0]
    there, here = creval.open_run(run_folder), creval.open_run(folder)
    assert list(here.scores()) == list(there.scores())
    assert [s.answers for s in here.samples()] == [s.answers for s in there.samples()]
    assert here.result("toy")["metrics"] == there.result("toy")["metrics"]
    assert pull_runs(REPO, tmp_path / "back") == [(folder, False)]
    assert published_name(here) == pushed.names[0]  # pushed from here, it would be the same run


def test_datasets_loads_what_was_pushed(hub: HubServer, run_folder: Path, tmp_path: Path) -> None:
    push_runs([creval.open_run(run_folder)], REPO)
    push_runs([creval.open_run(make_run(tmp_path / "other", {"a": "no", "b": "no"}))], REPO)
    read = (
        "import datasets, json\n"
        f"rows = datasets.load_dataset({REPO!r}, 'samples-toy', split='test')\n"
        f"metrics = datasets.load_dataset({REPO!r}, 'results', split='test')\n"
        "print(json.dumps([[r['doc_id'], r['status'], r['answers'], r['scores']] for r in rows]))\n"
        "print(json.dumps([[r['metric'], r['value'], r['unparsed']] for r in metrics]))\n"
    )
    home = {"HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}
    done = subprocess.run([sys.executable, "-c", read], env={**os.environ, **home}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows, metrics = map(json.loads, done.stdout.splitlines())
    assert len(rows) == 5
    assert ["a", "scored", ["yes"], [{"name": "exact_match", "value": 1.0}]] in rows
    assert ["c", "unparsed", ["perhaps"], []] in rows
    assert sorted(metrics) == [["exact_match", 0.0, 0], ["exact_match", pytest.approx(1 / 3), 1]]


def test_a_card_of_ones_own_is_kept(hub: HubServer, run_folder: Path) -> None:
    own = b"---\nlicense: mit\nconfigs:\n- config_name: mine\n  data_files: mine.csv\n---\n# Our runs\n\nHello.\n"
    hub.add(REPO, {"README.md": own, "mine.csv": b"a\n1\n"}, private=True)
    push_runs([creval.open_run(run_folder)], REPO)
    card = hub.dataset(REPO).files["README.md"].decode()
    assert "license: mit" in card and "Hello." in card and "config_name: mine" in card and "samples-toy" in card
    assert push_runs([creval.open_run(run_folder)], REPO).changed == ()


def test_a_push_that_was_killed_leaves_nothing_and_the_next_sends_what_is_missing(
    hub: HubServer, run_folder: Path, tmp_path: Path
) -> None:
    """Killed with -9 when its tables have arrived and the commit has not."""
    arrived, killed = threading.Event(), threading.Event()

    def hold(request: web.Request) -> web.Response | None:
        if "/commit/" in request.path:
            arrived.set()
            killed.wait(120)
            return web.Response(status=503)
        return None

    hub.fault = hold
    environment = {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1"}
    arguments = [sys.executable, "-m", "creval", "push", str(run_folder), "--repo", REPO]
    process = subprocess.Popen(arguments, cwd=tmp_path, env={**os.environ, **environment}, stderr=subprocess.DEVNULL)
    came = arrived.wait(120)
    process.send_signal(signal.SIGKILL)
    process.wait()
    hub.fault = None
    killed.set()
    assert came and len(hub.dataset(REPO).commits) == 1
    sent = hub.asked("PUT", "/lfs/")
    assert sent == 2
    push_runs([creval.open_run(run_folder)], REPO)
    assert hub.asked("PUT", "/lfs/") == sent  # the tables had arrived
    assert len(hub.dataset(REPO).commits) == 2


def test_private_and_whose(hub: HubServer, run_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = creval.open_run(run_folder)
    assert push_runs([run], "ada/secret").private
    assert hub.dataset("ada/secret").private
    hub.add("ada/open", {"a.csv": b"a\n"})
    with pytest.raises(UsageError, match="everybody would see"):
        push_runs([run], "ada/open")
    assert not any("runs/" in path for path in hub.dataset("ada/open").files)
    assert not push_runs([run], "ada/open", public=True).private
    assert not push_runs([run], "ada/new-open", public=True).private
    assert push_runs([run], "ada/secret", public=True).private  # it stays as its owner made it
    with pytest.raises(DataError, match="has no write access"):
        push_runs([run], "bob/runs")
    monkeypatch.setenv("HF_TOKEN", "hf_" + "wrongwrong123456")
    with pytest.raises(DataError, match="token is refused"):
        push_runs([run], "ada/new")
    with pytest.raises(DataError, match="no such repository"):
        pull_runs("ada/secret", tmp_path)


@pytest.mark.parametrize("name", ["runs", "a/b/c", "ada/..", "ada/x--y", "../etc", "ada/ru ns"])
def test_names_that_are_no_repository(name: str, run_folder: Path) -> None:
    with pytest.raises(UsageError, match="owner/name"):
        plan_push([creval.open_run(run_folder)], name)


def test_mistakes_have_one_message(
    hub: HubServer, run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    push_runs([creval.open_run(run_folder)], REPO)
    with pytest.raises(UnknownNameError):
        pull_runs(REPO, tmp_path, runs=["nothing"])
    with pytest.raises(DataError, match="no such revision"):
        pull_runs(REPO, tmp_path, revision="v9")
    hub.add("ada/words", {"words.csv": b"a\n"})
    with pytest.raises(DataError, match="contains no run"):
        pull_runs("ada/words", tmp_path)
    manifest = json.loads((run_folder / "run.json").read_text())
    (run_folder / "run.json").write_text(json.dumps({**manifest, "status": "interrupted"}))
    with pytest.raises(RunError, match="did not finish"):
        push_runs([creval.open_run(run_folder)], REPO)
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    (run_folder / "run.json").write_text(json.dumps(manifest))
    with pytest.raises(MissingPartError, match="token"):
        push_runs([creval.open_run(run_folder)], REPO)


def test_a_hub_that_cannot_be_reached(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with pytest.raises(DataError, match="cannot be reached"):
        push_runs([creval.open_run(run_folder)], REPO)


def test_a_dry_run_sends_nothing(run_folder: Path, tmp_path: Path) -> None:
    done = command(tmp_path, "push", str(run_folder), "--repo", REPO, "--dry-run", HF_ENDPOINT="http://127.0.0.1:9")
    assert done.returncode == 0, done.stderr
    assert "samples/toy.jsonl" in done.stdout and "nothing was sent" in done.stdout
    assert command(tmp_path, "push", str(run_folder)).returncode == 2


def test_a_sweep_and_several_runs_go_in_one_commit(
    hub: HubServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = tmp_path / "sweep"
    folders = [make_run(sweep / name, {"a": "yes", name: "no"}) for name in ("x", "y", "z")]
    cut = folders[2] / "run.json"
    cut.write_text(cut.read_text().replace('"status": "done"', '"status": "interrupted"'))
    other = make_run(tmp_path / "other", {"a": "yes"})
    assert invoke(["push", str(sweep), str(other), "--repo", REPO]) == 0
    reported = capsys.readouterr()
    assert f"left out: {folders[2]} (interrupted)" in reported.err and f"creval pull {REPO}" in reported.out
    assert [commit.title for commit in hub.dataset(REPO).commits][1:] == ["creval: 3 runs"]
    names = [folder.name for folder, _ in pull_runs(REPO, tmp_path / "back")]
    assert sorted(names) == sorted(published_name(creval.open_run(each)) for each in (*folders[:2], other))
    assert invoke(["push", str(sweep), str(sweep / "x" / "run"), "--repo", REPO]) == 2
    assert "given twice" in capsys.readouterr().err
    assert invoke(["push", str(cut.parent / "samples"), "--repo", REPO]) == 2
    assert "no finished run" in capsys.readouterr().err
    assert invoke(["push", str(sweep), "--model-repo", "o/m", "--dataset", "o/d"]) == 2
    assert "one run" in capsys.readouterr().err


def test_the_card_says_how_each_run_was_made(hub: HubServer, run_folder: Path, tmp_path: Path) -> None:
    first = push_runs([creval.open_run(run_folder)], REPO)
    other = creval.open_run(make_run(tmp_path / "other", {"a": "no", "b": "no"}))
    second = push_runs([other], REPO, texts=False)
    card = hub.dataset(REPO).files["README.md"].decode()
    assert "How it was made: `creval push` (creval-hub" in card and str(tmp_path) not in card
    about = {
        name: line for line in card.splitlines() for name in (*first.names, *second.names) if f"- `{name}`" in line
    }
    assert "replay/answers.jsonl on toy; 3 samples, seed 0;" in about[first.names[0]]
    assert f"creval {other.manifest['creval']}" in about[second.names[0]]
    assert "scores alone" in about[second.names[0]] and "scores alone" not in about[first.names[0]]

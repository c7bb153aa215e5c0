"""Runs in folders: found and searched by what they are."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from click.testing import CliRunner
from support.run_folders import write_run

import creval
from creval.runs.lock import RunLock
from creval_page.run_search import Search, find_runs
from creval_page.runs_cli import runs as runs_command

COUNTS = {"scored": 4, "unparsed": 1, "truncated": 0, "refused": 0, "errored": 1, "skipped": 0}


def put(folder: Path, model: str, status: str = "done") -> creval.Run:
    """A run of one task without metrics."""
    part = {
        "task": "drat",
        "hash": "a" * 64,
        "dataset": "d" * 64,
        "docs": 6,
        "docs_digest": "e" * 64,
        "metrics": [],
        "counts": COUNTS,
        "planned": 6,
    }
    return creval.open_run(write_run(folder, model, [part], status=status))


def test_runs_are_found_and_searched(tmp_path: Path) -> None:
    put(tmp_path / "a", "openai/gpt")
    put(tmp_path / "x" / "b", "openrouter/openai/gpt", status="interrupted")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{")
    killed = put(tmp_path / "killed", "m/k", status="running")
    with RunLock(killed.folder):
        assert killed.status == "running"
    assert killed.status == "interrupted"
    shutil.rmtree(killed.folder)
    names = lambda search=None: [run.folder.name for run in find_runs([tmp_path], search)]  # noqa: E731
    assert sorted(names()) == ["a", "b", "broken"]
    assert names(Search(models=["openai/*"])) == ["a"]
    assert sorted(names(Search(models=["gpt"]))) == ["a", "b"]
    assert names(Search(statuses=["interrupted"])) == ["b"]
    assert names(Search(tasks=["kumo*"])) == []
    assert names(Search(words=["OPENROUTER"])) == ["b"]
    done = CliRunner().invoke(runs_command, [str(tmp_path)])
    assert done.exit_code == 0 and "openai/gpt" in done.stdout and "broken" in done.stderr
    listed = json.loads(CliRunner().invoke(runs_command, [str(tmp_path), "--json"]).stdout)
    assert {run["status"] for run in listed} == {"done", "interrupted", "unreadable"}

"""The names of the collection: an index that is made once, one row in the list, patterns."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from creval.cli.root import cli
from creval.errors import MissingPartError, UnknownNameError
from creval_lmeval import names
from creval_lmeval.collection import LmEvalTasks

lm_eval = pytest.importorskip("lm_eval", reason="no lm-eval: pip install 'lm-eval==0.4.13' tenacity")


def listed(*words: str) -> str:
    done = CliRunner().invoke(cli, ["ls", *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_collection_is_one_row_and_its_index_is_not_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("creval_lmeval.roots.known", lambda: pytest.fail("the names were asked for"))
    rows = [row for row in listed().splitlines() if "lmeval" in row]
    assert len(rows) == 1
    assert rows[0].split()[:3] == ["lmeval/*", "collection", "lmeval"]


def test_a_pattern_lists_tasks_groups_and_tags(home: Path) -> None:
    rows = {row.split()[0]: row for row in listed("lmeval/*").splitlines()[1:]}
    assert "generate_until" in rows["gsm8k"]
    assert "suite" in rows["wmdp"]
    assert set(listed("lmeval/gsm8k*").split()) >= {"gsm8k", "gsm8k_cot"}
    assert "hellaswag" not in listed("lmeval/gsm8k*")
    found = json.loads(listed("lmeval/wmdp", "--json"))
    assert found == [{"name": "wmdp", "plugin": "lmeval", "kind": "suite", "title": "group"}]


def test_an_unknown_name_gives_the_nearest(home: Path) -> None:
    with pytest.raises(UnknownNameError, match="lmeval/gsm8'") as raised:
        CliRunner().invoke(cli, ["show", "lmeval/gsm8"], catch_exceptions=False)
    assert "lmeval/gsm8k" in str(raised.value.fix)


def test_without_lm_eval_a_name_says_how_to_install_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "installed", lambda: None)
    monkeypatch.setattr("creval_lmeval.collection.installed", lambda: None)
    assert "pip install 'creval-lmeval[lm-eval]'" in listed("lmeval")
    with pytest.raises(MissingPartError) as raised:
        CliRunner().invoke(cli, ["show", "lmeval/gsm8k"], catch_exceptions=False)
    assert "pip install 'creval-lmeval[lm-eval]'" in str(raised.value.fix)


def test_a_long_index_is_listed_in_a_moment_without_importing_lm_eval(home: Path) -> None:
    """As many names as lm-eval has, by a new process, which reads the flat index alone."""
    found = names.installed()
    assert found is not None
    file = found.cache / "names.json"
    some = file.read_bytes()
    names.write_index(file, [[f"made_{n}", "task", "", "multiple_choice", False, []] for n in range(14_000)])
    file.write_text("not read")
    program = (
        "import sys, time; from creval.cli.root import cli\n"
        "try: cli(['ls', 'lmeval/*'])\n"
        "except SystemExit: pass\n"
        "print(sorted(m for m in ('lm_eval', 'datasets', 'numpy') if m in sys.modules), time.process_time())"
    )
    try:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        *rows, last = done.stdout.splitlines()
        assert len(rows) == 14_000 + 2  # the head, and the row of the collection
        modules, _, seconds = last.rpartition(" ")
        assert modules == "[]"
        assert float(seconds) < 0.5  # .25 s
    finally:
        names.write_index(file, json.loads(some))


@pytest.mark.parametrize(
    ("version", "old"), [("0.4.12", True), ("0.4.8.dev1", True), ("0.4.13", False), ("1.0", False)]
)
def test_an_lm_eval_that_is_too_old_is_named(
    version: str, old: bool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = names.Installed(version, home)
    assert made.too_old is old
    monkeypatch.setattr(names, "installed", lambda: made)
    if not old:
        assert names.need_lm_eval() is made
        return
    monkeypatch.setattr("creval_lmeval.collection.installed", lambda: made)
    monkeypatch.setattr("creval_lmeval.roots.installed", lambda: made)
    assert f"of which {version} is too old" in listed("lmeval")
    assert [row.split()[0] for row in listed("lmeval/*").splitlines()] == ["NAME", "lmeval/*"]
    with pytest.raises(MissingPartError, match=f"0.4.13 or later, and {version} is installed") as raised:
        CliRunner().invoke(cli, ["show", "lmeval/gsm8k"], catch_exceptions=False)
    assert raised.value.fix == "Install it: pip install 'creval-lmeval[lm-eval]' --upgrade"


def test_names_of_all_kinds_become_files(home: Path) -> None:
    collection = LmEvalTasks()
    start = time.perf_counter()
    first = collection.file("wmdp")
    assert "- lmeval/wmdp_bio" in first.read_text()
    assert collection.file("wmdp") == first
    assert time.perf_counter() - start < 60
    assert not collection.has("no_such_task")

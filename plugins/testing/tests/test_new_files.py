"""`creval new`: what it writes works the moment it is written, and nothing is overwritten."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.toy_plugins import write_distribution

from creval.data.data_options import DataOptions
from creval.errors import UsageError
from creval.plugins.loader import load_plugins
from creval_testing.check_files import check
from creval_testing.check_tasks import check_all
from creval_testing.cli import new
from creval_testing.new_files import KINDS, LICENCES, new_plugin, new_task


def test_the_tests_of_a_new_plugin_pass(tmp_path: Path) -> None:
    files = new_plugin("word_letters", tmp_path, "BSD-3-Clause", "")
    home = tmp_path / "creval-word-letters"
    assert {file.relative_to(home).as_posix() for file in files} >= {
        *("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", ".github/workflows/test.yml"),
        *("creval_word_letters/tasks/word_letters.yaml", "tests/test_conformance.py"),
    }
    assert not [file for file in files if re.search("@[A-Z]+@", file.read_text())]
    # Installed as pip would from the wheel, which the packaging tests do for real.
    write_distribution(home, "creval-word-letters", {}, {"word_letters": "creval_word_letters.plugin"})
    info = next(home.glob("*.dist-info"))
    header = "Name: creval-word-letters\nVersion: 0.1.0\nLicense-Expression: BSD-3-Clause\n"
    (needed,) = re.findall(r'^dependencies = \["(creval[^"]*)"', (home / "pyproject.toml").read_text(), re.MULTILINE)
    (info / "METADATA").write_text(f"{header}Requires-Dist: {needed}\n")
    listed = [file.relative_to(home).as_posix() for file in files if "creval_word_letters" in file.parts]
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in listed))
    environment = {**os.environ, "PYTHONPATH": f"{home}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-o",
        "addopts=",
        "-p",
        "creval_testing",
        "-p",
        "no:cacheprovider",
        str(home),
    ]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "15 passed" in done.stdout


@pytest.mark.parametrize("licence", LICENCES)
def test_each_licence_has_its_text(tmp_path: Path, licence: str) -> None:
    new_plugin("mine", tmp_path, licence, "Nobody in Particular")
    text = (tmp_path / "creval-mine" / "LICENSE").read_text()
    assert len(text) > 500
    assert "@" not in text
    assert licence == "Apache-2.0" or "Nobody in Particular" in text


@pytest.mark.parametrize("name", ["Rhyme", "1st", "a-b", "", "core", "validate", "x" * 60])
def test_a_name_that_cannot_be_is_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        new_plugin(name, tmp_path, "MIT", "")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "creval-mine").mkdir()
    (tmp_path / "mine.jsonl").write_text("")
    with pytest.raises(UsageError, match="there already"):
        new_plugin("mine", tmp_path, "MIT", "")
    with pytest.raises(UsageError, match="there already"):
        new_task(tmp_path / "mine.yaml", "questions")
    assert not (tmp_path / "mine.yaml").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_task_is_valid(tmp_path: Path, kind: str) -> None:
    file, data = new_task(tmp_path / "own.yaml", kind)
    assert (file.name, data.name) == ("own.yaml", "own.jsonl")
    assert check([file], load_plugins()) == []
    assert check_all([file], load_plugins(), DataOptions(offline=True)) == []


def test_the_command_says_what_to_do_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(new, ["task", "riddles", "--like", "choices"])
    assert done.exit_code == 0
    assert "creval validate ./riddles.yaml --tests" in done.output
    done = CliRunner().invoke(new, ["plugin", "rhymes"])
    assert "cd creval-rhymes" in done.output


@pytest.mark.parametrize(("name", "warned"), [("kumo", True), ("sound", True), ("rhymes", False)])
def test_a_name_that_another_plugin_has_is_warned_of(
    name: str, warned: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the registry (also where it is not installed), or one that is installed."""
    write_distribution(tmp_path / "site", "another", {}, {"sound": "nowhere"})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(new, ["plugin", name])
    assert done.exit_code == 0
    owner = {"kumo": "creval-kumo", "sound": "another"}.get(name, "")
    assert (f"Warning: the plugin name {name!r} is taken by {owner}" in done.stderr) is warned

"""What the user says of the cluster, and that Ray is imported by nobody else."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from creval.plugin import MissingPartError, UnknownNameError, UsageError
from creval_ray.executor import RayExecutor
from creval_ray.settings import Settings


def test_settings_are_read(monkeypatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())  # whether Ray is here is no matter
    given = {"workers": "4", "env": "A_KEY,B_KEY", "batch": "8", "cpus": "2", "patience": "9"}
    assert Settings.read(given) == Settings(4, ("A_KEY", "B_KEY"), 8, 2, 9)
    assert RayExecutor(None, given).batch == 8


def test_wrong_settings_are_reported() -> None:
    with pytest.raises(UnknownNameError, match="'worker'") as raised:
        Settings.read({"worker": "4"})
    assert "'workers'" in str(raised.value)
    for text in ("0", "-1", "many", ""):
        with pytest.raises(UsageError, match="number of 1 or more"):
            Settings.read({"workers": text})


def test_a_variable_that_is_not_set_is_missed_before_anything_starts(monkeypatch) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(MissingPartError, match="SOME_KEY is not set here"):
        Settings.read({"env": "SOME_KEY"}).environment()
    monkeypatch.setenv("SOME_KEY", "x")
    assert Settings.read({"env": "SOME_KEY"}).environment() == {"SOME_KEY": "x"}


def test_an_absent_ray_is_missed_with_its_fix(monkeypatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPartError, match="pip install ray"):
        RayExecutor(None, {})


def test_ray_is_imported_by_no_run_without_the_flag(tmp_path, words) -> None:
    task, model = words(4)
    code = (
        "import sys; from creval.cli.main import invoke; "
        f"code = invoke(['--tasks', {task!r}, '--model', {model!r}, '-o', 'run']); "
        "print(code, sorted(name for name in sys.modules if name.startswith('ray') or name == 'creval_ray.executor'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr

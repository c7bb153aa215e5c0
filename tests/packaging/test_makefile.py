"""What `make demo` and `make test` do, as make itself lists it: the demo is light, the tests lint and skip little."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.skips import ALLOWED, SkipWatch

ROOT = Path(__file__).resolve().parents[2]


def steps(target: str, venv: Path) -> str:
    """The commands of a target in a fresh clone, none of which is run."""
    assert shutil.which("make")
    command = ["make", "--dry-run", "--no-print-directory", target, f"VENV={venv}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_the_demo_installs_no_torch(tmp_path: Path) -> None:
    for target in ("demo", "lint", "bench"):
        listed = steps(target, tmp_path / "venv")
        assert "pip install" in listed and "torch" not in listed.replace("torch-free", "")


def test_the_tests_install_torch_lint_and_refuse_unlisted_skips(tmp_path: Path) -> None:
    listed = steps("test", tmp_path / "venv")
    order = [
        "ruff check",
        "ruff format --check",
        "mypy",
        "lint-imports",
        "requirements/torch.txt",
        "--only-listed-skips",
    ]
    places = [listed.index(word) for word in order]
    assert places == sorted(places)
    assert "plugins/encoders[test]" in listed


def test_what_all_workers_need_is_compiled_once_before_they_start(tmp_path: Path) -> None:
    listed = steps("test", tmp_path / "venv")
    places = [listed.index(word) for word in ("tools/compile_search.py", "--collect-only", "-n 3")]
    assert places == sorted(places)


def test_torch_has_a_stamp_of_its_own(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    venv.mkdir()
    (venv / ".installed").touch()
    assert "torch.txt" in steps("test", venv) and "pip install" not in steps("demo", venv)
    (venv / ".torch").touch()
    assert "torch.txt" not in steps("test", venv)


def test_continuous_integration_runs_the_tests_of_the_makefile() -> None:
    assert (ROOT / ".ci" / "run").read_text("utf-8").rstrip().endswith("\nmake test")


def skipped(reason: str) -> Any:
    return SimpleNamespace(skipped=True, nodeid="a.py::b", longrepr=("a.py", 1, f"Skipped: {reason}"), wasxfail=None)


@pytest.mark.parametrize("reason", [*ALLOWED, "some other reason"])
def test_a_skip_that_is_not_listed_fails_the_session(reason: str) -> None:
    watch, session = SkipWatch(), SimpleNamespace(exitstatus=pytest.ExitCode.OK)
    report = skipped(reason)
    del report.wasxfail
    watch.pytest_runtest_logreport(report)
    watch.pytest_sessionfinish(session)  # type: ignore[arg-type]
    assert (session.exitstatus == pytest.ExitCode.TESTS_FAILED) == (reason == "some other reason")

"""What the suite says of itself: costs next to their budgets, the order of files, kinds of tests, skips."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.cost import PROPERTY, CostSummary, budgets, folder_of, processor_seconds
from support.kinds import BY_FIXTURE, mark_kinds
from support.order import longest_first, read_costs, write_costs
from support.skips import SkipWatch

ROOT = Path(__file__).resolve().parents[2]
SPIN = "import time\nwhile time.process_time() < 0.3: pass\n"


def test_every_folder_of_tests_has_a_budget() -> None:
    files = itertools.chain(ROOT.glob("tests/**/test_*.py"), ROOT.glob("plugins/*/tests/**/test_*.py"))
    folders = {folder_of(file.relative_to(ROOT).as_posix()) for file in files}
    assert folders - budgets().keys() == set(), "write it into the table of CONTRIBUTING.md"
    assert sum(budgets().values()) <= 2 * 600, "ten minutes of two cores"


def test_seconds_of_child_processes_are_counted_while_they_live_and_after() -> None:
    before = processor_seconds()
    child = subprocess.Popen([sys.executable, "-c", f"{SPIN}print(1, flush=True); input()"], **PIPES)
    assert child.stdout is not None and child.stdout.readline() == b"1\n"
    if os.path.exists("/proc/self/task"):  # noqa: PTH110
        assert processor_seconds() - before > 0.25
    child.communicate(b"\n")
    assert processor_seconds() - before > 0.25


PIPES: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}


def report(test: str, **about: Any) -> Any:
    return SimpleNamespace(nodeid=test, when="teardown", user_properties=[], skipped=False, **about)


def test_the_summary_names_folders_over_their_budget() -> None:
    summary = CostSummary()
    for test, seconds in (("tests/cli/test_a.py::test_b", 1e5), ("plugins/kumo/tests/test_c.py::test_d[x]", 1.5)):
        summary.pytest_runtest_logreport(report(test))
        given = report(test)
        given.user_properties = [(PROPERTY, seconds)]
        summary.pytest_runtest_logreport(given)
    cli, kumo = (next(line for line in summary.lines() if line.startswith(name)) for name in ("tests/cli", "plugins/"))
    assert cli.split()[:3] == ["tests/cli", "100000.0", str(budgets()["tests/cli"])] and "over its budget" in cli
    assert kumo.split() == ["plugins/kumo", "1.5", str(budgets()["plugins/kumo"])]
    assert summary.by_file() == {"tests/cli/test_a.py": 1e5, "plugins/kumo/tests/test_c.py": 1.5}


def test_the_longest_files_come_first_and_each_stays_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_costs({"a.py": 2.4, "b.py": 30.0, "c.py": 0.4}, tmp_path / "costs.txt")
    assert (tmp_path / "costs.txt").read_text() == "30 b.py\n2 a.py\n"
    monkeypatch.setattr("support.order.read_costs", lambda: read_costs(tmp_path / "costs.txt"))
    names = ["a.py::x", "a.py::y", "c.py::x", "b.py::z", "b.py::x", "d.py::x", "d.py::y", "plugins/ray/tests/e.py::x"]
    tests: list[Any] = [SimpleNamespace(nodeid=name) for name in names]
    longest_first(tests)
    order = ["b.py::z", "b.py::x", "a.py::x", "a.py::y", "d.py::x", "d.py::y", "c.py::x", "plugins/ray/tests/e.py::x"]
    assert [test.nodeid for test in tests] == order


def kinds() -> set[str]:
    """The marks of slow tests."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    return {mark.partition(":")[0] for mark in settings["markers"]}


def test_a_fixture_gives_its_kind_to_the_tests_that_use_it() -> None:
    assert set(BY_FIXTURE.values()) <= kinds()
    marks: list[str] = []
    test: Any = SimpleNamespace(fixturenames=["tmp_path", "unpacked", "wheels", "raylets"], add_marker=marks.append)
    mark_kinds([test, *([SimpleNamespace(fixturenames=["tmp_path"])] * 2)])
    assert sorted(marks) == ["ray", "wheels"]


def test_the_check_leaves_out_every_kind() -> None:
    (line,) = [line for line in (ROOT / "Makefile").read_text("utf-8").splitlines() if '-m "not (' in line]
    assert set(line.partition("not (")[2].partition(")")[0].split(" or ")) == kinds()


def test_skips_are_listed_with_their_number_and_how_to_have_them_run() -> None:
    watch = SkipWatch()
    for reason in ("no fish: apt-get install fish", "no fish: apt-get install fish", "no bubblewrap on this machine"):
        about = report("a.py::b", longrepr=("a.py", 1, f"Skipped: {reason}"))
        about.skipped = True
        watch.pytest_runtest_logreport(about)
    assert watch.lines() == [
        "   2  no fish: apt-get install fish\n      to run: apt-get install fish",
        "   1  no bubblewrap on this machine\n      to run: apt-get install bubblewrap",
    ]

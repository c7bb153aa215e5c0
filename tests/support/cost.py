"""What tests take of the processors: seconds of this process and of all that it started, summed by folder.

Unlike the clock, processor time hardly depends on what else the machine does; so the table of budgets in
CONTRIBUTING.md can be held to it. It is printed and never asserted.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from support.order import write_costs

__all__ = ["CostSummary", "CostWatch", "budgets", "folder_of", "processor_seconds"]

ROOT = Path(__file__).resolve().parents[2]
PROPERTY = "processor seconds"
_ROW = re.compile(r"^\| `((?:tests|plugins)[\w/-]*)` \| ([\d,]+) \|", re.MULTILINE)
SELDOM = 0.3
"""Seconds between two notes."""
_TICK = os.sysconf("SC_CLK_TCK")


def budgets() -> Mapping[str, int]:
    """Return the processor seconds that each folder of tests may take, from the table in CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    return {folder: int(seconds.replace(",", "")) for folder, seconds in _ROW.findall(text)}


def folder_of(test: str) -> str:
    """Return the folder of the table that a test belongs to: `tests/cli`, `plugins/kumo`; `tests` for a file in it."""
    parts = test.partition("::")[0].split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def processor_seconds() -> float:
    """Return the processor seconds of this process, of its children that ended, and (on Linux) of those that live."""
    times = os.times()
    return sum(times[:4]) + sum(_of_the_living(os.getpid()))


def _of_the_living(process: int) -> list[float]:
    """Each living descendant's own seconds with those of the children that it has waited for."""
    found: list[float] = []
    for child in _children(process):
        try:
            with open(f"/proc/{child}/stat", "rb") as file:  # noqa: PTH123 - a path object takes as long as the reading
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        found.append(sum(map(int, fields[11:15])) / _TICK)
        found.extend(_of_the_living(int(child)))
    return found


def _children(process: int) -> Iterator[str]:
    """The children of all threads of a process."""
    try:
        threads = os.listdir(f"/proc/{process}/task")  # noqa: PTH208
    except OSError:
        return
    for thread in threads:
        with contextlib.suppress(OSError), open(f"/proc/{process}/task/{thread}/children") as file:  # noqa: PTH123
            yield from file.read().split()


class CostWatch:
    """Notes on the last report of a test what was taken since the last note: fixtures, too.

    Looking at every living process takes milliseconds: quick tests are noted together.
    """

    def __init__(self) -> None:
        self._before = 0.0
        self._noted = time.monotonic()

    def pytest_collection_finish(self) -> None:
        """Begin after what all tests share."""
        self._before = processor_seconds()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> object:
        """Note it."""
        outcome = yield
        if call.when == "teardown" and time.monotonic() - self._noted > SELDOM:
            now = processor_seconds()
            self._noted = time.monotonic()
            outcome.get_result().user_properties = [(PROPERTY, round(max(now - self._before, 0.0), 3))]
            self._before = now


class CostSummary:
    """Sums what the tests took, and prints each folder's sum next to its budget.

    With `save` it also notes what each file took, which is the order of the next session.
    """

    def __init__(self, save: bool = False) -> None:
        self.save = save
        self.taken: Counter[str] = Counter()  # floats, by folder
        self.slowest: Counter[str] = Counter()  # and by test

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a test's seconds."""
        for name, seconds in report.user_properties if report.when == "teardown" else ():
            if name == PROPERTY:
                self.taken[folder_of(report.nodeid)] += seconds
                self.slowest[report.nodeid] += seconds

    def lines(self) -> list[str]:
        """Return the table: most seconds first, those over their budget marked."""
        allowed = budgets()
        rows = [f"{'folder':24}{'seconds':>9}{'budget':>9}"]
        for folder, seconds in self.taken.most_common():
            budget = allowed.get(folder)
            over = "  over its budget: see CONTRIBUTING.md" if budget is not None and seconds > budget else ""
            rows.append(f"{folder:24}{seconds:9.1f}{'-' if budget is None else budget:>9}{over}")
        slowest = [f"{seconds:9.1f}  {test}" for test, seconds in self.slowest.most_common(10)]
        return [*rows, f"{'all':24}{self.taken.total():9.1f}{sum(allowed.values()):>9}", "", "slowest tests:", *slowest]

    def by_file(self) -> Mapping[str, float]:
        """Return the seconds of each file."""
        files: Counter[str] = Counter()
        for test, seconds in self.slowest.items():
            files[test.partition("::")[0]] += seconds
        return files

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print it."""
        terminalreporter.section("processor seconds of the tests")
        for line in self.lines():
            terminalreporter.write_line(line)
        if self.save:
            write_costs(self.by_file())

"""The skips that the whole suite may have. With --only-listed-skips any other one fails the session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

__all__ = ["ALLOWED", "SkipWatch"]

_DATA = "set CREVAL_DATA to a folder with the papers' and authors' own numbers, which are not ours to ship"
_TEXTS = "put the papers' texts into the folder `papers` next to that of CREVAL_DATA"
ALLOWED: Mapping[str, str] = {
    "reference data not found": _DATA,
    "no KUMO data in": _DATA,
    "the text of arXiv:": _TEXTS,
    "is not there: run `make fidelity`": "make fidelity (fetches all-mpnet-base-v2, 400 MB)",
    "no word vectors called 'glove-840b'": "put GloVe 840B, which its makers give out (2 GB), into creval's cache",
    "its data are remote": "nothing: no test leaves this machine; the plugin's tests run them on a copy",
    "no model for its role ": "nothing: it needs a judge; the examples, where it is scripted, are run",
    "no Chromium with chromedriver": "apt-get install chromium chromium-driver",
    "CREVAL_EEE names no command": "make test installs that validator where a Python 3.12 or later is found",
    "no Ray": "make test installs it where a Ray for this Python is found",
    "no bubblewrap as another user": "run the tests as root, with the system's Python",
    "no bubblewrap": "apt-get install bubblewrap",
    "no fish: ": "apt-get install fish",
    "no zsh: ": "apt-get install zsh",
    "no lm-eval": "pip install 'lm-eval==0.4.13' tenacity (make test installs both with creval-likelihoods[test])",
    "no /proc on this system": "run on Linux",
}
"""What a reason holds -> how to get rid of the skip; `nothing` where another test shows the same."""


class SkipWatch:
    """Collects the skips of a session (of all its workers), lists them, and fails it where one is unknown."""

    def __init__(self) -> None:
        self.listed: Counter[tuple[str, str]] = Counter()
        self.unlisted: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Look at each test's end."""
        if report.skipped and not hasattr(report, "wasxfail"):
            self._see(report.nodeid, report.longrepr)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Look at modules that were skipped whole."""
        if report.skipped:
            self._see(report.nodeid, report.longrepr)

    def _see(self, test: str, longrepr: object) -> None:
        reason = str(longrepr[2] if isinstance(longrepr, tuple) else longrepr).removeprefix("Skipped: ")
        fix = next((fix for part, fix in ALLOWED.items() if part in reason), None)
        if fix is None:
            self.unlisted.append(f"{test}: {reason}")
        else:
            self.listed[reason, fix] += 1

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A skip that is not listed is a failure."""
        if self.unlisted and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def lines(self) -> list[str]:
        """Return each reason with its number of tests, and how to have them run."""
        return [f"{count:4}  {reason}\n      to run: {fix}" for (reason, fix), count in self.listed.most_common()]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print them."""
        terminalreporter.section(f"{self.listed.total()} skipped")
        for line in self.lines():
            terminalreporter.write_line(line)
        for line in self.unlisted:
            terminalreporter.write_line(f"skipped, and not listed in tests/support/skips.py: {line}", red=True)

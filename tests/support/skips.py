"""The skips that the whole suite may have. With --only-listed-skips any other one fails the session."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

__all__ = ["ALLOWED", "SkipWatch"]

ALLOWED: Mapping[str, str] = {
    "reference data not found": "the papers' and authors' own numbers are not ours to ship; CI has them",
    "no KUMO data in": "as above",
    "the text of arXiv:": "as above: the papers' own texts",
    "is not there: run `make fidelity`": "all-mpnet-base-v2 is a download of 400 MB, which `make fidelity` makes",
    "no word vectors called 'glove-840b'": "GloVe 840B comes from its makers alone (2 GB)",
    "its data come from elsewhere": "no test leaves this machine; the plugin's tests run the examples on a copy",
    "nobody plays its ": "floor and ceiling need a judge; the examples, where it is scripted, are run",
    "no Chromium with chromedriver": "where it cannot be installed",
    "CREVAL_EEE names no command": "that validator needs Python 3.12; the bundled schemas are checked",
    "no Ray": "where it cannot be installed",
    "no bubblewrap": "where it cannot be installed",
    "no fish: ": "as above; its script is checked all the same",
    "no zsh: ": "as above",
    "no /proc on this system": "Linux alone has it",
}
"""What a reason holds -> why that is no gap in the suite."""


class SkipWatch:
    """Collects the skips of a session (of all its workers) and fails it where one is not listed."""

    def __init__(self) -> None:
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
        reason = str(longrepr[2] if isinstance(longrepr, tuple) else longrepr)
        if not any(part in reason for part in ALLOWED):
            self.unlisted.append(f"{test}: {reason}")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A skip that is not listed is a failure."""
        if self.unlisted and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name them."""
        for line in self.unlisted:
            terminalreporter.write_line(f"skipped, and not listed in tests/support/skips.py: {line}", red=True)

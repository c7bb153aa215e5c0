"""Live progress: a rich display on a terminal, plain lines everywhere else."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from creval.engine.observer import Observer
from creval.engine.roles.ledger import RoleCounts
from creval.models.stats import ModelStats
from creval.types.sample import Sample, Status

__all__ = ["watch"]

PLAIN_SECONDS = 10.0
"""How often a line is printed where there is no terminal."""


@contextmanager
def watch() -> Iterator[Observer]:
    """Give an observer that shows the progress on standard error."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Plain()
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Live(progress)


class _Counting(ABC):
    """What both displays know: how many samples ended in which status, how fast, and what they cost."""

    def __init__(self) -> None:
        self.phase = ""
        self.total = 0
        self.done = 0
        self.statuses: Counter[Status] = Counter()
        self.stats = ModelStats()
        self.roles: Mapping[str, RoleCounts] = {}
        self._begun = time.monotonic()
        self._made = 0

    def on_phase(self, phase: str, task: str | None, total: int, done: int) -> None:
        self.phase = f"{phase} {task}" if task else phase
        self.total, self.done = total, done
        self._begun, self._made = time.monotonic(), 0
        self.show_phase()

    def on_sample(self, sample: Sample, stats: ModelStats) -> None:
        self.statuses[sample.status] += 1
        self.stats = stats
        self.step(1)

    def on_scored(self, count: int) -> None:
        self.step(count)

    def on_roles(self, counts: Mapping[str, RoleCounts]) -> None:
        self.roles = counts

    def on_finish(self, results: Mapping[str, Any]) -> None:
        """End the last phase; the table of results follows."""
        self.phase = ""

    def step(self, count: int) -> None:
        self.done += count
        self._made += count
        self.show()

    def facts(self) -> str:
        """Return rate, spend and failures so far."""
        seconds = time.monotonic() - self._begun
        words = [_rate(self._made / seconds)] if seconds > 0.5 and self._made else []
        if self.stats.cost:
            words.append(f"${self.stats.cost:.4f}")
        if self.stats.retries:
            words.append(f"{self.stats.retries} retries")
        words += [_role_words(role, counts) for role, counts in self.roles.items()]
        failed = {status: n for status, n in self.statuses.items() if status is not Status.SCORED}
        words += [f"{number} {status.value}" for status, number in sorted(failed.items())]
        return ", ".join(words)

    @abstractmethod
    def show_phase(self) -> None:
        """Show that a phase begins."""

    @abstractmethod
    def show(self) -> None:
        """Show how far the phase is."""


def _rate(a_second: float) -> str:
    return f"{a_second:.1f}/s" if a_second >= 1 else f"{a_second * 60:.1f}/min"


def _role_words(role: str, counts: RoleCounts) -> str:
    words = [f"{role}: {counts.calls} calls"]
    words += [f"{counts.reused} reused"] if counts.reused else []
    words += [f"${counts.cost:.4f}"] if counts.cost else []
    return " ".join(words)


class _Live(_Counting):
    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress = progress
        self._bar: TaskID | None = None

    def show_phase(self) -> None:
        if self._bar is not None:
            self._progress.remove_task(self._bar)
        self._bar = self._progress.add_task(self.phase, total=self.total or None, completed=self.done, facts="")

    def show(self) -> None:
        if self._bar is not None:
            self._progress.update(self._bar, completed=self.done, facts=self.facts())


class _Plain(_Counting):
    def __init__(self) -> None:
        super().__init__()
        self._last = 0.0

    def show_phase(self) -> None:
        if self.total:
            self._print(f"{self.phase}: {self.done} of {self.total} done")

    def show(self) -> None:
        if self.done == self.total or time.monotonic() - self._last >= PLAIN_SECONDS:
            self._print(", ".join(filter(None, [f"{self.phase}: {self.done} of {self.total} done", self.facts()])))

    def _print(self, line: str) -> None:
        self._last = time.monotonic()
        print(line, file=sys.stderr, flush=True)

"""The counts behind every progress display, and the display in a notebook.

Samples are counted by status, with speed and cost. A notebook shows one output of the cell, updated during the run.
"""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from creval.engine.roles.ledger import RoleCounts
from creval.escape import visible
from creval.format import counted
from creval.models.batching import BatchCounts
from creval.models.limiter import RateLimitNews
from creval.models.model_stats import ModelStats
from creval.types.sample import Sample, Status

__all__ = ["Counting", "Notebook", "failures", "in_notebook"]


class Counting(ABC):
    """An observer that counts, and shows its counts through `show_phase` and `show`."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.phase = ""
        self.total = 0
        self.done = 0
        self.statuses: Counter[Status] = Counter()
        self.stats: Callable[[], ModelStats] = ModelStats
        self.roles: Mapping[str, RoleCounts] = {}
        self._roles_before: Mapping[str, RoleCounts] = {}
        self.batches = BatchCounts(0, 0, 0)
        self.rate_limited: dict[str, RateLimitNews] = {}
        self._started = time.monotonic()
        self._made_in_phase = 0

    def on_phase(self, phase: str, task: str | None, total: int, done: int) -> None:
        self.phase = f"{phase} {task}" if task else phase
        self.total, self.done = total, done
        self._started, self._made_in_phase = time.monotonic(), 0
        self._roles_before = self.roles if task else {}
        self.show_phase()

    def on_sample(self, sample: Sample, stats: Callable[[], ModelStats]) -> None:
        self.statuses[sample.status] += 1
        self.stats = stats
        self.step(1)

    def on_scored(self, count: int) -> None:
        self.step(count)

    def on_roles(self, counts: Mapping[str, RoleCounts]) -> None:
        self.roles = counts

    def on_batches(self, counts: BatchCounts) -> None:
        has_new = counts.batches > self.batches.batches
        self.batches = counts
        self.show(now=has_new)

    def on_rate_limit(self, news: RateLimitNews) -> None:
        if news.over:
            self.rate_limited.pop(news.provider, None)
        else:
            self.rate_limited[news.provider] = news
        self.show(now=True)

    def on_finish(self, results: Mapping[str, Any]) -> None:
        """End the last phase; the table of results follows."""
        self.phase = ""

    def step(self, count: int) -> None:
        self.done += count
        self._made_in_phase += count
        self.show()

    def line(self) -> str:
        """Return phase, progress and facts as one line."""
        progress = f": {self.done} of {self.total} done" if self.total else ""
        return ", ".join(filter(None, [f"{self.phase_words()}{progress}", self.facts()]))

    def phase_words(self) -> str:
        """Return the phase, preceded by the run's name if several runs are shown."""
        return visible(f"{self.name}: {self.phase}") if self.name else self.phase

    def facts(self) -> str:
        """Return rate and spending so far, and during generation the number of failed samples.

        Failures of scoring are in the table; shown here, those of all tasks would look like those of one task.
        """
        seconds = time.monotonic() - self._started
        words = [_rate(self._made_in_phase / seconds)] if seconds > 0.5 and self._made_in_phase else []
        return ", ".join([*words, *self.spent(), *(failures(self.statuses) if self.phase == "generate" else ())])

    def spent(self) -> list[str]:
        """Return the usage of the samples so far."""
        words = []
        stats = self.stats()
        if stats.cost:
            words.append(f"${stats.cost:.4f}")
        if stats.retries:
            words.append(f"{stats.retries} retries")
        words += [_role_words(role, counts) for role, counts in self._phase_roles().items() if any(counts)]
        words += [_rate_limit_words(news) for news in self.rate_limited.values()]
        return words + ([_batch_words(self.batches)] if self.batches.batches else [])

    def _phase_roles(self) -> Mapping[str, RoleCounts]:
        """Return the calls of each role in this phase, of one task if the phase is of one task."""
        nothing = RoleCounts(0, 0, 0.0)
        return {
            role: RoleCounts(now.calls - then.calls, now.reused - then.reused, now.cost - then.cost)
            for role, now in self.roles.items()
            for then in (self._roles_before.get(role, nothing),)
        }

    @abstractmethod
    def show_phase(self) -> None:
        """Show that a phase begins."""

    @abstractmethod
    def show(self, now: bool = False) -> None:
        """Show the progress of the phase, at once with `now`."""


def failures(counts: Mapping[Status, int]) -> list[str]:
    """Return the number of samples by status, without scored ones."""
    return [f"{n} {status.value}" for status, n in sorted(counts.items()) if n and status is not Status.SCORED]


def _rate(a_second: float) -> str:
    return f"{a_second:.1f}/s" if a_second >= 1 else f"{a_second * 60:.1f}/min"


def _batch_words(counts: BatchCounts) -> str:
    which = "1 batch" if counts.batches == 1 else f"{counts.batches} batches"
    return f"{which} pending: {counts.done:,} of {counts.requests:,}"


def _rate_limit_words(news: RateLimitNews) -> str:
    return f"{news.provider} answers 429: waiting {_clock(news.seconds)} of at most {_clock(news.most)}"


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _role_words(role: str, counts: RoleCounts) -> str:
    words = [f"{role}: {counted(counts.calls, 'calls')}"]
    words += [f"{counts.reused} reused"] if counts.reused else []
    words += [f"${counts.cost:.4f}"] if counts.cost else []
    return " ".join(words)


SECONDS = 0.25
"""Seconds between updates of the output; each update is a message to the browser."""


def in_notebook() -> bool:
    """Whether a notebook kernel runs this code. Imports nothing."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class Notebook(Counting):
    """An observer that shows a bar, or a line of text where HTML is not shown. Needs IPython."""

    def __init__(self) -> None:
        super().__init__()
        self._output: Any = None
        self._last = 0.0

    def show_phase(self) -> None:
        self._put()

    def show(self, now: bool = False) -> None:
        if now or self.done >= self.total or time.monotonic() - self._last >= SECONDS:
            self._put()

    def on_finish(self, results: Mapping[str, Any]) -> None:
        counts = Counter[Status]()
        for task in results["tasks"]:
            counts.update({Status(status): count for status, count in task["counts"].items() if status != "skipped"})
        self.phase, self.total, self._roles_before = "done", 0, {}
        self._write(
            ", ".join([f"{results['status']}: {counted(counts.total(), 'samples')}", *self.spent(), *failures(counts)]),
            "",
        )

    def _put(self) -> None:
        bar = f'<progress max="{self.total}" value="{self.done}"></progress> ' if self.total else ""
        self._write(self.line(), bar)

    def _write(self, line: str, bar: str) -> None:
        from html import escape

        from IPython.display import display

        self._last = time.monotonic()
        text = visible(line)
        bundle = {"text/plain": text, "text/html": f"<div>{bar}{escape(text)}</div>"}
        if self._output is None:
            self._output = display(bundle, raw=True, display_id=True)
        else:
            self._output.update(bundle, raw=True)

"""Live progress in a notebook: one output of the cell, updated during the run."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from html import escape
from typing import Any

from creval.engine.progress.counting import Counting, failures
from creval.escape import visible
from creval.types.sample import Status

__all__ = ["Notebook", "in_notebook"]

SECONDS = 0.25
"""How often the output is updated: each time is a message to the browser."""


def in_notebook() -> bool:
    """Whether a kernel runs this code, so that there is a cell to show something in. Imports nothing."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class Notebook(Counting):
    """An observer that shows a bar, and a line of text where no HTML is shown. Needs IPython."""

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
        self.phase, self.total = "done", 0
        self._write(", ".join([f"{results['status']}: {counts.total()} samples", *self.spent(), *failures(counts)]), "")

    def _put(self) -> None:
        bar = f'<progress max="{self.total}" value="{self.done}"></progress> ' if self.total else ""
        self._write(self.line(), bar)

    def _write(self, line: str, bar: str) -> None:
        from IPython.display import display

        self._last = time.monotonic()
        text = visible(line)
        bundle = {"text/plain": text, "text/html": f"<div>{bar}{escape(text)}</div>"}
        if self._output is None:
            self._output = display(bundle, raw=True, display_id=True)
        else:
            self._output.update(bundle, raw=True)

"""What the code of plugins prints while it is imported or runs: beside a command's own output, never in it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

__all__ = ["aside"]


class _Aside:
    """Counts who is inside, over all threads: `contextlib.redirect_stdout` in two of them at once never comes back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before: TextIO | None = None

    def enter(self) -> None:
        with self._lock:
            if not self._inside:
                self._before, sys.stdout = sys.stdout, sys.stderr
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._before is not None:
                sys.stdout, self._before = self._before, None


_ASIDE = _Aside()


@contextmanager
def aside() -> Iterator[None]:
    """Let what is printed here go to standard error; safe in several threads at once."""
    _ASIDE.enter()
    try:
        yield
    finally:
        _ASIDE.leave()

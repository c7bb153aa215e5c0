"""The end of the process: the system frees its memory faster than the interpreter takes apart what was imported.

A thread of the HTTP client that enters the interpreter while it is taken apart would abort the process, too.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys

__all__ = ["ProcessEnd", "is_program"]

_FILES = frozenset({io.BufferedRandom, io.BufferedWriter, io.TextIOWrapper})


class ProcessEnd:
    """Ends the process with `code` after all that is registered to run at its end, once `code` is set.

    Threads have been waited for by then. What files hold that nobody closed is written, as ever.
    """

    def __init__(self) -> None:
        self.code: int | None = None

    def register(self) -> None:
        """Let it be the last thing that runs; not where others registered before: they would not run."""
        if not atexit._ncallbacks():
            atexit.register(self)

    def __call__(self) -> None:
        if self.code is None:  # an error that nobody caught
            return
        try:
            for file in (each for each in gc.get_objects() if type(each) in _FILES):
                if not file.closed and file.writable():
                    file.flush()
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):  # the interpreter says so
            return
        os._exit(self.code)


def is_program() -> bool:
    """Whether this process is the command `creval`, and no other program that calls it."""
    file = getattr(sys.modules["__main__"], "__file__", None) or ""
    return file.endswith(("/creval", "/creval/__main__.py"))

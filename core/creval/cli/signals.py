"""Handles Ctrl-C, SIGTERM (kill, a scheduler) and SIGHUP (the terminal was closed).

The first signal ends the command cleanly, within a limited time: a thread that computes, or a library that blocks,
delays the end by a few seconds at most, after a second Ctrl-C by one second. Every finished sample is on disk by then.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import click

from creval.interruption import CURRENT, Interruption

__all__ = ["exit_code", "fix_shown", "listening"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 10.0
"""Seconds for a clean end after the first signal."""
_HURRY = 1.0
"""Seconds after a further signal."""
_SILENCE = 0.5
"""Seconds after the first signal until a message says that the end takes longer."""
_INTERRUPTED = 130


def exit_code() -> int:
    """Return the exit code of an interrupted command: 128 and the signal's number (130 for Ctrl-C)."""
    interruption = CURRENT.get()
    return _INTERRUPTED if interruption is None or interruption.signal is None else 128 + interruption.signal


@contextmanager
def fix_shown() -> Iterator[None]:
    """On an interruption print its notes, which name the command that continues, and raise it again."""
    try:
        yield
    except KeyboardInterrupt as error:
        interruption = CURRENT.get()
        if interruption is not None:
            interruption.resume_command = None  # printed here
        for note in getattr(error, "__notes__", ()):
            click.echo(note, err=True)
        raise


@contextmanager
def listening() -> Iterator[None]:
    """Handle signals while a command runs. An ignored signal (nohup) stays ignored.

    An interrupted process ends without waiting for its threads.
    """
    interruption = Interruption()
    token = CURRENT.set(interruption)
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    silent = False

    def announce() -> None:
        hurry = f"Press Ctrl-C again to stop within {_HURRY:g} s."
        words = f"Stopping: waiting up to {_PATIENCE:g} s for work in flight. {hurry}\n"
        with suppress(OSError, ValueError):  # a progress display prints the line above its bars
            sys.stderr.write("" if silent else words)

    def take(number: int, frame: FrameType | None) -> None:
        nonlocal silent
        if interruption.signal is not None:
            silent = True
            _after(_HURRY, lambda: _end_now(interruption))
            return
        _after(_PATIENCE, lambda: _end_now(interruption))
        _after(_SILENCE, announce)
        gc.disable()  # the process ends: garbage collection over thousands of waiting samples would only delay it
        interruption.stop(number)

    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, take)
    try:
        yield
    finally:
        silent = True
        if interruption.signal is None:
            for number, handler in before.items():
                signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        CURRENT.reset(token)


def _after(seconds: float, action: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()


def _end_now(interruption: Interruption) -> None:
    """End the process at once, with the message of a clean end."""
    if interruption.resume_command is not None:
        sys.stderr.write(f"\nWhat is finished is saved. Resume with: {interruption.resume_command}\ninterrupted\n")
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(128 + (interruption.signal or signal.SIGINT))

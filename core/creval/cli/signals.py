"""Ctrl-C and its like: SIGTERM (kill, a scheduler) and SIGHUP (the terminal has gone).

The first one ends the command in order. It is bounded in time: a thread that computes, or a library that does not let
go, holds it up for a few seconds at most, and a second Ctrl-C for one. Every finished sample is on disk by then.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

from creval.interruption import CURRENT, Interruption

__all__ = ["exit_code", "fix_shown", "listening"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 10.0
"""Seconds that the first signal leaves for an orderly end."""
_HURRY = 1.0
"""Seconds that a further one leaves."""
_INTERRUPTED = 130


def exit_code() -> int:
    """Return the exit code of an interrupted command: 128 and the signal's number (130 for Ctrl-C)."""
    interruption = CURRENT.get()
    return _INTERRUPTED if interruption is None or interruption.signal is None else 128 + interruption.signal


@contextmanager
def fix_shown() -> Iterator[None]:
    """On an interruption print its notes, which name the command that continues, and pass it on."""
    try:
        yield
    except KeyboardInterrupt as error:
        interruption = CURRENT.get()
        if interruption is not None:
            interruption.resume_command = None  # it is printed here
        for note in getattr(error, "__notes__", ()):
            click.echo(note, err=True)
        raise


@contextmanager
def listening() -> Iterator[None]:
    """Take the signals while a command runs. One that is ignored (nohup) stays ignored.

    An interrupted process ends without waiting for its threads.
    """
    interruption = Interruption()
    token = CURRENT.set(interruption)
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def take(number: int, frame: FrameType | None) -> None:
        if interruption.signal is not None:
            _end_within(_HURRY, interruption)
            return
        _end_within(_PATIENCE, interruption)
        gc.disable()  # the process ends: to look through thousands of waiting samples again and again only holds it up
        interruption.stop(number)

    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, take)
    try:
        yield
    finally:
        if interruption.signal is None:
            for number, handler in before.items():
                signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        CURRENT.reset(token)


def _end_within(seconds: float, interruption: Interruption) -> None:
    timer = threading.Timer(seconds, _end_now, (interruption,))
    timer.daemon = True
    timer.start()


def _end_now(interruption: Interruption) -> None:
    """End the process at once, with the message of an orderly end."""
    if interruption.resume_command is not None:
        sys.stderr.write(f"\nFinished samples are saved. Resume with: {interruption.resume_command}\ninterrupted\n")
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(128 + (interruption.signal or signal.SIGINT))

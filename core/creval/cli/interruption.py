"""What a person who stopped a command is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

__all__ = ["cure_shown"]


@contextmanager
def cure_shown() -> Iterator[None]:
    """On Ctrl-C print the notes of the interruption, which name the command that goes on, and pass it on."""
    try:
        yield
    except KeyboardInterrupt as error:
        for note in getattr(error, "__notes__", ()):
            click.echo(note, err=True)
        raise

"""Starts garbage collection after a command is imported: objects created by imports are never garbage."""

from __future__ import annotations

import gc

__all__ = ["collect_from_here"]


def collect_from_here() -> None:
    """Start garbage collection, which the entry point postponed, without examining existing objects."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()

"""Starts garbage collection after a command is imported: objects created by imports are never garbage."""

from __future__ import annotations

import gc

__all__ = ["start_collection"]


def start_collection() -> None:
    """Start garbage collection, which the entry point postponed, without examining existing objects."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()

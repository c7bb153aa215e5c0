"""When the collector of cyclic garbage works: not while a command is imported, which makes objects that all stay."""

from __future__ import annotations

import gc

__all__ = ["collect_from_here"]


def collect_from_here() -> None:
    """Start garbage collection, which the entry point postponed, without examining existing objects."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()

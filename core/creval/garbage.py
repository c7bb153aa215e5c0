"""When the collector of cyclic garbage works: not while a command is imported, which makes objects that all stay."""

from __future__ import annotations

import gc

__all__ = ["collect_from_here"]


def collect_from_here() -> None:
    """Start collecting where the entry point has put it off, and never look through what is there already."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()

"""Runs to compare, and a command line in this process."""

from __future__ import annotations

from support.spellers import runs, said

__all__ = ["runs", "said"]

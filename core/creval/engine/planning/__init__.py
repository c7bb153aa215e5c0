"""Planning a run: its samples, their seeds, and the checks before the first call."""

from __future__ import annotations

"""The sections of a task file, each read by a module of its own. What they share is `Reading`."""

from __future__ import annotations

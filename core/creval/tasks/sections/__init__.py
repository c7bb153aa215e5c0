"""The sections of a task file, each read by its own module; they share `Reading`."""

from __future__ import annotations

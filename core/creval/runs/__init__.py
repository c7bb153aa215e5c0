"""The run folder: its files, their format and schemas, the lock. Reports, analyses and other tools read it."""

from __future__ import annotations

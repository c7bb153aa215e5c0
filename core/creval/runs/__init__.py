"""The run folder: its files, their codec and schemas, the lock. Read by reports, analyses and other people's tools."""

from __future__ import annotations

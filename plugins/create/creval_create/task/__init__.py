"""What the task files name: protocol, scorer, judge, players."""

from __future__ import annotations

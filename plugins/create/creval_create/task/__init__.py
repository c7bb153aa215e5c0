"""What the task files name: protocol, scorer, judge, baselines."""

from __future__ import annotations

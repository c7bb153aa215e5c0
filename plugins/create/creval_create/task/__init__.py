"""Components of the task files: protocol, scorer, judge, baselines."""

from __future__ import annotations

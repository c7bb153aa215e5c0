"""What a task is made of: data source, parser, scorers, baselines."""

from __future__ import annotations

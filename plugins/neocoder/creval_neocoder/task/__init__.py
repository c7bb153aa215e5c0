"""The components of a task: data source, parser, scorers, baselines."""

from __future__ import annotations

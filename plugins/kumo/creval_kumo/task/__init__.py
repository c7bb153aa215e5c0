"""The components of task files: protocol, parser, scorers, players, datasets."""

from __future__ import annotations

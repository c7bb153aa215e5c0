"""The components that task files name: protocol, parser, scorers, players, datasets."""

from __future__ import annotations

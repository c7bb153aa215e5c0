"""Merge shards into one run: check them against each other, order their lines, aggregate again."""

from __future__ import annotations

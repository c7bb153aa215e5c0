"""Shards of a run become one run: checked against each other, their lines put into one order, aggregated again."""

from __future__ import annotations

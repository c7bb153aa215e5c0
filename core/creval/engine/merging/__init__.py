"""Shards of a run become one run: checked beside each other, their lines put into one order, aggregated anew."""

from __future__ import annotations

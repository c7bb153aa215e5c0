"""Scorers of the core, aggregations, and the statistics behind every metric."""

from __future__ import annotations

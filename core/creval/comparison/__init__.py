"""Runs beside each other: paired by doc, tested, and ranked. docs/compare.md explains it."""

from __future__ import annotations

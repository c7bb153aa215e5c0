"""Runs beside each other: paired by doc, tested, ranked, and held against a policy. docs/compare.md explains it."""

from __future__ import annotations

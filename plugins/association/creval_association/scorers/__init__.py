"""Scorers, one per file."""

from __future__ import annotations

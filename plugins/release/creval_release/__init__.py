"""Runs held against a release policy, and many runs in one ranked table."""

from __future__ import annotations

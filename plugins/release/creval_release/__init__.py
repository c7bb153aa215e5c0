"""Checks runs against a release policy, and ranks many runs in one table."""

from __future__ import annotations

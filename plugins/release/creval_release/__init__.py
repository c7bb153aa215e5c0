"""Check runs against a release policy, and rank many runs in one table."""

from __future__ import annotations

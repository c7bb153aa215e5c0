"""Models that judge answers, as a single judge or as a jury."""

from __future__ import annotations

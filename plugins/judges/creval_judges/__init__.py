"""Models that judge answers, alone or as a jury."""

from __future__ import annotations

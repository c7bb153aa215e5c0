"""Models that run inside creval, without key or network."""

from __future__ import annotations

"""Models that run inside creval and need neither key nor network."""

from __future__ import annotations

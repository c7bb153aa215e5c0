"""The commands `creval push`, `creval pull` and `creval export`."""

from __future__ import annotations

"""Games: their making from a seed, how results come about, and the pure state of play."""

from __future__ import annotations

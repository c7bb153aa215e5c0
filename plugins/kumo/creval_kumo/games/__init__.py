"""Games: generation from a seed, drawing of results, and the pure state of play."""

from __future__ import annotations

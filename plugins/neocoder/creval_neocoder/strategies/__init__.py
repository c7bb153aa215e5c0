"""Section 5.3: four reasoning strategies, each a protocol over the problems of a state."""

from __future__ import annotations

"""From samples to scores, and from scores to results."""

from __future__ import annotations

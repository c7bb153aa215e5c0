"""Statistics of predictive validity. Everything here takes arrays of floats without gaps and returns plain values."""

from __future__ import annotations

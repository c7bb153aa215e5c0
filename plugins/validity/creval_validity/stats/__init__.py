"""Statistics of predictive validity. All functions take arrays of floats without gaps and return plain values."""

from __future__ import annotations

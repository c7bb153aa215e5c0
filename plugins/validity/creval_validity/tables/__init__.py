"""Tables of scores: one row per model, one column per test, benchmark or a measure of general capability."""

from __future__ import annotations

"""Tables of scores: one row a model, one column a test, a benchmark or a measure of general capability."""

from __future__ import annotations

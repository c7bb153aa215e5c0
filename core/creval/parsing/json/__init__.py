"""JSON in answers: where it is, how a slip in it is repaired, what is extracted from it."""

from __future__ import annotations

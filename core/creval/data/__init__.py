"""Datasets: where docs come from, pinned, checked and read lazily."""

from __future__ import annotations

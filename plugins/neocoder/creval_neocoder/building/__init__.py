"""Denial Prompting (Section 3.1, Algorithm 1): states for any problems, by a model that solves and one that detects."""

from __future__ import annotations

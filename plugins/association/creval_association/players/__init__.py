"""Baselines: players that need no language model."""

from __future__ import annotations

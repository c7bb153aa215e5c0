"""Baselines: solvers without a language model."""

from __future__ import annotations

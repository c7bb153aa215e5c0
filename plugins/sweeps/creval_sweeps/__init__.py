"""Runs from files, runs of several models, and the estimate of a run's cost."""

from __future__ import annotations

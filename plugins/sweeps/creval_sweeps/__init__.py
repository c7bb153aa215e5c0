"""Runs from files, runs of several models, and the estimate of what a run takes."""

from __future__ import annotations

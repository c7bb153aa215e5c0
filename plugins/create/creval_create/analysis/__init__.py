"""Analyses over runs: sets of judged paths read from runs and rescored under any rule."""

from __future__ import annotations

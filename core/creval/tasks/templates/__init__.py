"""Prompt templates: rendering, their environment, its bounds and charges."""

from __future__ import annotations

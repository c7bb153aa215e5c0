"""Prompt templates: rendering, their environment and its bounds."""

from __future__ import annotations

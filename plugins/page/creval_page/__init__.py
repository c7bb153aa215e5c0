"""Runs as one self-contained page for any browser."""

from __future__ import annotations

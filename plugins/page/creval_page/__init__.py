"""Runs as one page for any browser, which loads nothing."""

from __future__ import annotations

"""Runs compared doc by doc, with intervals and tests."""

from __future__ import annotations

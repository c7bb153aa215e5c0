"""Plain data classes and the component protocols; nothing here imports anything above it."""

from __future__ import annotations

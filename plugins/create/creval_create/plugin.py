"""What this plugin registers. Imports nothing heavy."""

from __future__ import annotations

__all__: list[str] = []

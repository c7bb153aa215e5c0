"""Options of runs, and nothing of the user's own environment."""

from __future__ import annotations

from support.run_fixtures import options, own_environment

__all__ = ["options", "own_environment"]

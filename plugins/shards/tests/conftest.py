"""What the tests of merged runs share: fixtures of runs, and nothing of the user's own environment."""

from __future__ import annotations

from support.run_fixtures import install, make_task, options, own_environment, server

__all__ = ["install", "make_task", "options", "own_environment", "server"]

"""What the tests of sweeps and estimates share: fixtures of runs."""

from __future__ import annotations

from support.run_fixtures import install, make_task, options, server

__all__ = ["install", "make_task", "options", "server"]

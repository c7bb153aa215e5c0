"""The command line. Commands contain no logic: they read options, call the engine, print."""

from __future__ import annotations

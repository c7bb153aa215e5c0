"""The command line. Commands hold no logic of their own: they read options, call the engine, print."""

from __future__ import annotations

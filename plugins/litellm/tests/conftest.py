"""Requests and options of models, and no keys of the user."""

from __future__ import annotations

from support.model_fixtures import ask, fast, no_keys, registry

__all__ = ["ask", "fast", "no_keys", "registry"]

"""What the tests of the model layer share."""

from __future__ import annotations

from support.model_fixtures import ask, fast, no_keys, registry

__all__ = ["ask", "fast", "no_keys", "registry"]

"""Models of every provider that litellm knows."""

from __future__ import annotations

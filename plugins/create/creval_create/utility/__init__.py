"""Numbers: strength, distances, creative utility. Nothing here calls a model or an encoder."""

from __future__ import annotations

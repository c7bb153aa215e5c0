"""Numbers: strength, distances, creative utility. Nothing here asks a model or an encoder."""

from __future__ import annotations

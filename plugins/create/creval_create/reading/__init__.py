"""Parse the text of an answer into paths, path by path and without guessing."""

from __future__ import annotations

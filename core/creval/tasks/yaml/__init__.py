"""YAML with line numbers, before it is interpreted: reading, merging, includes, schema."""

from __future__ import annotations

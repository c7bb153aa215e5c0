"""YAML with places, before it means anything: reading, merging, includes, schema."""

from __future__ import annotations

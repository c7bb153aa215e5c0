"""The authors' published domains and games: read, checked, fetched."""

from __future__ import annotations

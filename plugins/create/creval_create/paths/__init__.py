"""What a path is: its triples, when two names are one, its string, its validity."""

from __future__ import annotations

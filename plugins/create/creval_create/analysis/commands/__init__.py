"""`creval analyse create-...`, one analysis per file."""

from __future__ import annotations

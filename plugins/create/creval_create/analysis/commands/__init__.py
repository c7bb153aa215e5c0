"""`creval analyse create-...`, one analysis a file."""

from __future__ import annotations

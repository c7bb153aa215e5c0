"""One scorer a file."""

from __future__ import annotations

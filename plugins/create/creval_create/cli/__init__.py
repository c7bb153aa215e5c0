"""Commands under `creval create`."""

from __future__ import annotations

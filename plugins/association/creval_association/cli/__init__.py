"""Commands under `creval association`."""

from __future__ import annotations

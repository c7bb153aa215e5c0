"""Commands under `creval neocoder`."""

from __future__ import annotations

"""The analyses as `creval analyse` calls them, one module each, named after the analysis."""

from __future__ import annotations

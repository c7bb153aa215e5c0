"""CREATE: associative creativity over real-world connections (arXiv:2603.09970)."""

from __future__ import annotations

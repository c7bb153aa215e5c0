"""What judges say: their replies read, kept by path, and asked for."""

from __future__ import annotations

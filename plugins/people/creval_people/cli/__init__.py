"""The commands `creval play` and `creval score-file`."""

from __future__ import annotations

"""What a person reads: tables of results and of analyses."""

from __future__ import annotations

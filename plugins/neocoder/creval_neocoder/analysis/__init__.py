"""Numbers over runs and over the human solutions."""

from __future__ import annotations

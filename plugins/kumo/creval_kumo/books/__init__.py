"""Knowledge books: writing them from templates, and checking books of any origin."""

from __future__ import annotations

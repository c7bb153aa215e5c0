"""Output for people: tables of results and of analyses, figures."""

from __future__ import annotations

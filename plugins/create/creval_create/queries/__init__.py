"""The queries: those of our own with their judged paths, the published set, and what is wrong with a wording."""

from __future__ import annotations

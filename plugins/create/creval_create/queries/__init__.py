"""The queries: our own with their judged paths, the published set, and checks of their wording."""

from __future__ import annotations

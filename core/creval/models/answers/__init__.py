"""Reading replies: thinking, flags, finish reasons, marks of chat templates."""

from __future__ import annotations

"""People as models: seats for their answers, their screens, and answers from spreadsheets."""

from __future__ import annotations

"""People as models: seats at which they answer, the screens they see, and answers from spreadsheets."""

from __future__ import annotations

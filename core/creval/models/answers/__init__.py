"""What came back, read as what it is: thinking, flags, replies as plain data."""

from __future__ import annotations

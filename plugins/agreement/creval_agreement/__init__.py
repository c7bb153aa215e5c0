"""How far a judge agrees with people's labels, and with itself."""

from __future__ import annotations

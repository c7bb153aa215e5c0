"""Agreement of a judge with people's labels, and with itself."""

from __future__ import annotations

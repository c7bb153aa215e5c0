"""Provider clients: chat completions."""

from __future__ import annotations

"""Provider clients: chat completions and litellm."""

from __future__ import annotations

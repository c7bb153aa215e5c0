"""The ways to a server: the chat-completions lane and litellm."""

from __future__ import annotations

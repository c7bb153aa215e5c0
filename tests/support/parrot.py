"""What the chat server of the engine's tests answers."""

from __future__ import annotations

from support.chat_server import Received

__all__ = ["parrot"]


def parrot(request: Received) -> str:
    """Answer with the last word of the prompt."""
    return request.prompt.rsplit(" ", 1)[-1]

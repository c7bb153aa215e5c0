"""A chat-completions server on the loopback address that says what a test lets it say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.chat_server import Answer, ChatServer, Received

__all__ = ["Talker", "talker"]


class Talker:
    """The server; `says` makes a reply of a request, and may be replaced at any time."""

    def __init__(self) -> None:
        self.says: Callable[[Received], Any] = lambda _: Answer("Well.")
        self.server = ChatServer(self._say)

    def _say(self, got: Received) -> Any:
        return self.says(got)

    @property
    def url(self) -> str:
        return self.server.url


@pytest.fixture
def talker() -> Iterator[Talker]:
    """A server that says what a test lets it say."""
    talker = Talker()
    with talker.server:
        yield talker

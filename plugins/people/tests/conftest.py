"""What these tests share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from creval.plugin import Message, SampleKey
from creval.plugin.models import GenerateRequest, Origin

Ask = Callable[..., GenerateRequest]


@pytest.fixture
def ask() -> Ask:
    """Make a request: text, and who asks for which sample by keyword."""

    def make(
        text: str = "Say something.", *, task: str = "t", doc: str = "0", repeat: int = 0, role: str = "target"
    ) -> GenerateRequest:
        origin = Origin(SampleKey(task, doc, "default", repeat), role, 0)
        return GenerateRequest((Message("user", text),), {}, origin, 1)

    return make

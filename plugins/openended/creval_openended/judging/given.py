"""Provider `given`: `given/FIELD` answers with a field of the doc, to judge solutions that already exist."""

from __future__ import annotations

from creval.plugin import Completion, Reply
from creval.plugin.models import FatalModelError, GenerateRequest, ProviderOptions, ProviderTraits

__all__ = ["Given", "open_given"]


class Given:
    """A `Provider` that returns a field of the doc. It calls no model."""

    traits = ProviderTraits(remote=False, cacheable=False, free=True, verbatim=True)

    def __init__(self, field: str) -> None:
        self._field = field

    async def generate(self, request: GenerateRequest) -> Reply:
        """Return the field's text. Raises FatalModelError if the doc has none."""
        text = request.origin.doc.get(self._field)
        if not isinstance(text, str) or not text.strip():
            known = ", ".join(request.origin.doc)
            raise FatalModelError(
                f"the doc {request.origin.key.doc!r} has no text {self._field!r}; it has {known}",
                where=f"given/{self._field}",
                fix="Name the field that holds the solution: --model given/FIELD.",
            )
        return Reply((Completion(text),), model=f"given/{self._field}", cost=0.0)

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


def open_given(model: str, options: ProviderOptions) -> Given:
    """Component `given`: `model` is the name of a field."""
    return Given(model or "solution")

"""Batches through litellm, for the providers whose batches it turns into OpenAI's protocol and back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, BinaryIO

from creval.plugin import Reply
from creval.plugin.batches import Failure, request_body
from creval.plugin.models import GenerateRequest, RetryableModelError
from creval_batches.batch_api import ENDPOINT, NAMED, WINDOW, BatchState, is_batch, state_of
from creval_litellm.provider import LitellmProvider

__all__ = ["VENDORS", "LitellmBatchApi"]

VENDORS = ("openai", "azure", "vertex_ai")
"""The providers for which litellm sends files, returns answers as OpenAI's lines, and lists batches (to find one that a
killed process had just created)."""
_NO_PRICING = {"batch_ignore_default_logging": True}
"""Prevents litellm from fetching all answers again to compute their price."""
_PAGE = 100
_PAGES = 200


class LitellmBatchApi:
    """`BatchApi` by `litellm.acreate_file`, `acreate_batch`, `aretrieve_batch`, `alist_batches`, `afile_content`."""

    def __init__(self, provider: LitellmProvider) -> None:
        self._provider = provider
        self.secrets: Sequence[str] = provider.secrets
        self.traits = provider.traits

    def body(self, request: GenerateRequest) -> bytes:
        """The body of a request, with the vendor's own name of the model."""
        return request_body(self._provider.model, self._provider.vendor, request)

    def reply(self, body: Any, request: GenerateRequest) -> Reply:
        """Read a body as the provider does."""
        return self._provider.reply(body, request)

    def refused(self, failure: Failure, request: GenerateRequest) -> Reply:
        """Judge a failure as the provider does."""
        return self._provider.refused(failure)

    async def upload(self, file: BinaryIO, name: str) -> str:
        """Send the file; litellm holds it in memory meanwhile."""
        file.seek(0)
        sent = (f"{name}.jsonl", file.read(), "application/jsonl")
        data = await self._ask("acreate_file", file=sent, purpose="batch")
        return str(data["id"])

    async def create(self, file_id: str, name: str) -> BatchState:
        """Make the batch; its name goes along as metadata where the vendor has such."""
        return self._state(
            await self._ask(
                "acreate_batch",
                completion_window=WINDOW,
                endpoint=ENDPOINT,
                input_file_id=file_id,
                metadata={NAMED: name},
            )
        )

    async def state(self, batch_id: str) -> BatchState:
        """Ask for the batch."""
        return self._state(await self._ask("aretrieve_batch", batch_id=batch_id, litellm_metadata=_NO_PRICING))

    async def find(self, name: str, file_id: str | None, since: float) -> BatchState | None:
        """List batches page by page."""
        after: dict[str, Any] = {}
        for _ in range(_PAGES):
            page = await self._ask("alist_batches", limit=_PAGE, **after)
            listed = [_plain(each) for each in page.get("data") or ()]
            for each in listed:
                if is_batch(each, name, file_id):
                    return self._state(each)
            if not page.get("has_more") or not listed:
                break
            after = {"after": listed[-1].get("id")}
        return None

    async def fetch(self, file_id: str, target: BinaryIO) -> None:
        """Fetch a file; litellm holds it in memory meanwhile."""
        said = await self._provider.batch_call("afile_content", file_id=file_id)
        content = getattr(said, "content", None)
        if not isinstance(content, bytes):
            raise RetryableModelError("the file of answers is empty", where=self._provider.caller.where)
        target.write(content)

    async def close(self) -> None:
        """Close the provider."""
        await self._provider.close()

    async def _ask(self, name: str, **given: Any) -> Mapping[str, Any]:
        call: Callable[..., Awaitable[Any]] = self._provider.batch_call
        return _plain(await call(name, **given))

    def _state(self, data: Mapping[str, Any]) -> BatchState:
        try:
            return state_of(data)
        except (KeyError, TypeError, ValueError):
            raise RetryableModelError("the reply is not a batch", where=self._provider.caller.where) from None


def _plain(said: Any) -> dict[str, Any]:
    """Return one of litellm's objects as plain data."""
    if isinstance(said, dict):
        return said
    dump = getattr(said, "model_dump", None)
    if callable(dump):
        data = dump()
        return data if isinstance(data, dict) else {}
    return {name: getattr(said, name, None) for name in ("data", "has_more", "id", "status")}

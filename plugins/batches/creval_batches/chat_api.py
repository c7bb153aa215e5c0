"""OpenAI's batch protocol over the chat-completions provider: files, batches, and their listing."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, NoReturn
from urllib.parse import quote

from creval.plugin import Reply, UsageError
from creval.plugin.batches import ChatProvider, Failure, FormFile, error_of, explain
from creval.plugin.models import GenerateRequest, RetryableModelError
from creval_batches.batch_api import ENDPOINT, NAMED, WINDOW, BatchState, is_batch, state_of

__all__ = ["FIX", "ChatBatchApi"]

FIX = "Leave --batch out: calls are then made one by one, at the full price."
_NO_SUCH_PATH = frozenset({404, 405, 501})
_PAGE = 100
_PAGES = 200
_DAY = 86_400.0  # seconds; more than clocks differ


class ChatBatchApi:
    """`BatchApi` of a server that speaks the protocol below its base URL."""

    def __init__(self, provider: ChatProvider) -> None:
        self._provider = provider
        self.secrets: Sequence[str] = provider.secrets
        self.traits = provider.traits

    def body(self, request: GenerateRequest) -> bytes:
        """The body that the provider would send."""
        return self._provider.body(request)

    def reply(self, body: Any, request: GenerateRequest) -> Reply:
        """Read a body as the chat provider does."""
        return self._provider.reply(body, request)

    def refused(self, failure: Failure, request: GenerateRequest) -> Reply:
        """Judge a failure as the chat provider does."""
        return self._provider.refused(failure, request)

    async def upload(self, file: BinaryIO, name: str) -> str:
        """POST /files. Raises UsageError if the server has no such address."""
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        form = {"purpose": "batch", "file": FormFile(file, size, f"{name}.jsonl", "application/jsonl")}
        data = await self._ask("POST", "/files", missing=True, large=True, form=form)
        if not isinstance(data.get("id"), str):
            raise self._nonsense("names no file")
        return str(data["id"])

    async def create(self, file_id: str, name: str) -> BatchState:
        """POST /batches. The name is sent as metadata, and as the idempotency key."""
        asked = {
            "input_file_id": file_id,
            "endpoint": ENDPOINT,
            "completion_window": WINDOW,
            "metadata": {NAMED: name},
        }
        return self._state(
            await self._ask(
                "POST",
                "/batches",
                missing=True,
                body=json.dumps(asked).encode(),
                headers={"Content-Type": "application/json", "Idempotency-Key": name},
            )
        )

    async def state(self, batch_id: str) -> BatchState:
        """GET /batches/ID."""
        return self._state(await self._ask("GET", f"/batches/{quote(batch_id, safe='')}"))

    async def find(self, name: str, file_id: str | None, since: float) -> BatchState | None:
        """GET /batches, page by page, newest first."""
        after: dict[str, str] = {}
        for _ in range(_PAGES):
            page = await self._ask("GET", "/batches", query={"limit": str(_PAGE), **after})
            listed = [each for each in page.get("data") or () if isinstance(each, dict)]
            for each in listed:
                if is_batch(each, name, file_id):
                    return self._state(each)
            oldest = listed[-1].get("created_at") if listed else None
            if not page.get("has_more") or not listed or (isinstance(oldest, int) and oldest < since - _DAY):
                break
            after = {"after": str(listed[-1].get("id"))}
        return None

    async def fetch(self, file_id: str, target: BinaryIO) -> None:
        """GET /files/ID/content."""
        await self._ask("GET", f"/files/{quote(file_id, safe='')}/content", sink=target)

    async def close(self) -> None:
        """Close the provider."""
        await self._provider.close()

    async def _ask(
        self, method: str, path: str, missing: bool = False, sink: BinaryIO | None = None, **given: Any
    ) -> Mapping[str, Any]:
        """One call. `missing`: an address that is not there means that the server has no batches."""
        large = given.pop("large", False) or sink is not None
        answer = await self._provider.call(method, path, sink=sink, large=large, **given)
        if not 200 <= answer.status < 300:
            self._fail(error_of(answer.status, answer.text, answer.headers), path if missing else None)
        if sink is not None:
            return {}
        try:
            said = json.loads(answer.body)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            raise self._nonsense("is not a JSON object")
        return said

    def _fail(self, failure: Failure, missing: str | None) -> NoReturn:
        caller = self._provider.caller
        if missing is not None and failure.status in _NO_SUCH_PATH:
            what = f"the server has no batches: it answers HTTP {failure.status} at {missing}"
            raise UsageError(what, where=caller.where, fix=FIX)
        raise explain(failure, caller)

    def _state(self, data: Mapping[str, Any]) -> BatchState:
        try:
            return state_of(data)
        except (KeyError, TypeError, ValueError):
            raise self._nonsense("is not a batch") from None

    def _nonsense(self, what: str) -> RetryableModelError:
        return RetryableModelError(f"the server's description of the batch {what}", where=self._provider.caller.where)

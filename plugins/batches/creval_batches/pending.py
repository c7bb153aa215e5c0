"""Calls that wait for answers of batches."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from creval.plugin import CrevalError, ModelError, Reply
from creval.plugin.batches import (
    BATCH,
    Failure,
    LostUsage,
    Mask,
    Price,
    broken_off,
    error_of,
    failure_in,
    likely_secrets,
    lost_to_json,
    masked_reply,
    redact,
    reply_to_json,
    with_known_finish_reasons,
)
from creval.plugin.models import GenerateRequest, RetryableModelError
from creval_batches.batch_api import BatchApi
from creval_batches.journal import BatchJournal

__all__ = ["AskAgain", "PendingRequests"]


class AskAgain(Exception):
    """The batch failed, but not because of this request, which is sent again in another one."""


class _One(NamedTuple):
    future: asyncio.Future[Reply]
    request: GenerateRequest


class PendingRequests:
    """The requests of one model that are pending, by their keys.

    Reads each answer as the model's provider does, computes its price, and records it in the journal before delivering
    it.
    """

    def __init__(self, api: BatchApi, spec: str, price: Price | None, journal: BatchJournal) -> None:
        self._api = api
        self._spec = spec
        self._price = price
        self._journal = journal
        self._mask = Mask((*api.secrets, *likely_secrets()))
        self._by_key: dict[str, _One] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._by_key

    def __len__(self) -> int:
        return len(self._by_key)

    async def wait(self, key: str, request: GenerateRequest) -> Reply:
        """Wait for the answer to a request. Raises ModelError, AskAgain, or what ended the run."""
        one = _One(asyncio.get_running_loop().create_future(), request)
        self._by_key[key] = one
        try:
            return await one.future
        finally:
            self._by_key.pop(key, None)

    def deliver(self, key: str, batch: str, line: Mapping[str, Any]) -> None:
        """Resolve a call with its line of a batch's files."""
        one = self._by_key[key]
        try:
            reply = self.read(key, batch, line, one.request)
        except ModelError as error:
            self._fail(one, error)
        else:
            if not one.future.done():
                one.future.set_result(reply)

    def read(self, key: str, batch: str, line: Mapping[str, Any], request: GenerateRequest) -> Reply:
        """Read a line and record it in the journal. Raises ModelError if it is no answer."""
        try:
            reply = with_known_finish_reasons(_read_line(line, request, self._api))
            reply = self._priced(masked_reply(reply, self._mask))
            fault = broken_off(reply, self._spec)
            if fault is not None:
                raise fault
        except ModelError as error:
            if error.lost is not None:
                paid = self._priced(Reply((), error.lost.usage, error.lost.cost))
                error.lost = LostUsage(1, paid.usage, paid.cost)
            said = self._mask.hide(redact(str(error)))
            self._journal.void(key, batch, said, lost_to_json(error.lost) if error.lost else None)
            raise _at_once(error) from None
        reply = replace(reply, flags=(*reply.flags, BATCH), latency=0.0)
        self._journal.answered(key, batch, reply_to_json(reply))
        return reply

    def missed(self, key: str, batch: str, status: str) -> None:
        """Fail a request that the batch ended without."""
        what = f"the batch ended ({status}) without an answer to this request"
        self._journal.void(key, batch, what, None)
        self._fail(self._by_key[key], RetryableModelError(what, where=self._spec, retry_after=0.0))

    def again(self, keys: Iterable[str]) -> None:
        """Let requests be sent in another batch."""
        for key in keys:
            one = self._by_key.get(key)
            if one is not None and not one.future.done():
                one.future.set_exception(AskAgain())

    def fail(self, keys: Iterable[str], error: CrevalError) -> None:
        """Fail these calls with an error."""
        for key in list(keys):
            if key in self._by_key:
                self._fail(self._by_key[key], error)

    def fail_all(self, error: CrevalError) -> None:
        """Fail all calls with an error."""
        self.fail(self._by_key, error)

    def _fail(self, one: _One, error: CrevalError) -> None:
        if not one.future.done():
            one.future.set_exception(copy.copy(error))  # a shared error would keep every asker's traceback

    def _priced(self, reply: Reply) -> Reply:
        if reply.cost is not None or self._price is None or not reply.usage.input_tokens:
            return reply
        return replace(reply, cost=self._price.cost(reply.usage))


def _read_line(line: Mapping[str, Any], request: GenerateRequest, api: BatchApi) -> Reply:
    response, error = line.get("response"), line.get("error")
    status = response.get("status_code") if isinstance(response, Mapping) else None
    if isinstance(response, Mapping) and isinstance(status, int):
        body = response.get("body")
        if status == 200:
            return api.reply(body, request)
        return api.refused(error_of(status, json.dumps(body), {}), request)
    failure = failure_in(error, None) if error else Failure(None, "the line of the batch is empty")
    return api.refused(failure, request)


def _at_once(error: ModelError) -> ModelError:
    """A retry goes into the next batch; a 429 within a batch says nothing about calls in flight."""
    if isinstance(error, RetryableModelError):
        error.retry_after, error.http_status = 0.0, None
    return error

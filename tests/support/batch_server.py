"""A real server on the loopback address that speaks OpenAI's batch protocol, whose every fault can be ordered.

    with BatchServer(plans=[Plan(end="expired", share=3), Plan(doubled=True)]) as server:
        ...  # server.url, server.batches, server.billed

The n-th batch goes by the n-th plan, later ones by the default. A batch ends after it was looked at `looks` times, so
no test waits for a clock. `billed` counts the answers that were made, by the body of their request: what is paid.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from support.chat_server import Answer, ChatServer, HttpError, Received

__all__ = ["BatchServer", "Plan"]


@dataclass(frozen=True)
class Plan:
    """How one batch goes.

    `end`: completed, expired, failed, cancelled. `share`: so many of its first requests are answered before that.
    `lines`: what comes of one request by its number in the file (None: its answer). `errors`: of a failed one.
    `made_unheard`: the batch is made, but the line is cut before anybody hears of it; `gone`: nor is anything after it
    (`BatchServer.gone`). `refusals`: answers to its making before it is made. `uploads`: answers to the upload of its
    file. `doubled`, `shuffled`, `foreign`: the lines of its files. `torn`: so many downloads lack their end without a
    word; `cut`: so many break off. `counts`: whether request_counts is told. `hidden`: so many listings do not show it
    yet. `states`: what it is before its end, one look after the other. `lookups`: answers to whoever looks at it first.
    """

    end: str = "completed"
    share: int | None = None
    lines: Callable[[int, Received], Answer | HttpError | None] | None = None
    errors: Sequence[dict[str, Any]] = ()
    made_unheard: bool = False
    refusals: Sequence[HttpError] = ()
    uploads: Sequence[HttpError] = ()
    doubled: bool = False
    shuffled: bool = False
    foreign: bool = False
    torn: int = 0
    cut: int = 0
    counts: bool = True
    looks: int = 1
    hidden: int = 0
    lookups: Sequence[HttpError] = ()
    gone: bool = False
    states: Sequence[str] = ("in_progress",)


@dataclass
class _Batch:
    plan: Plan
    data: dict[str, Any]
    texts: list[str]
    looks: int = 0
    hidden: int = 0
    lookups: list[HttpError] = field(default_factory=list)
    torn: int = 0
    cut: int = 0


class BatchServer(ChatServer):
    """The server; see the module. `most`: a batch of more requests is one too many while others are pending or
    at all (`by_status`: it is made, and fails; else it is refused with 429). `held`: no batch ends.
    """

    def __init__(
        self, plans: Sequence[Plan] = (), *, most: int | None = None, by_status: bool = True, **more: Any
    ) -> None:
        super().__init__(**more)
        self._plans = list(plans)
        self._most = most
        self._by_status = by_status
        self.held = False
        self.gone = False
        self.seen: Callable[[str], None] = lambda step: None  # told of upload, make, made, look, content, cancel, list
        self.files: dict[str, tuple[str, bytes]] = {}
        self.batches: dict[str, _Batch] = {}
        self.billed: Counter[str] = Counter()
        self.sizes: list[int] = []
        self.listings = 0
        self._uploads = self._makings = 0
        self._refused: Counter[int] = Counter()
        self._home: dict[str, _Batch] = {}

    @property
    def paid_twice(self) -> list[str]:
        """The bodies of requests that were answered more than once."""
        return [body for body, count in self.billed.items() if count > 1]

    def add_routes(self, app: web.Application) -> None:
        """Add files and batches, also where Azure has them."""
        for base in (f"{self._prefix}/v1", "/openai"):
            app.router.add_post(f"{base}/files", self._upload)
            app.router.add_get(f"{base}/files/{{id}}/content", self._content)
            app.router.add_post(f"{base}/batches", self._make)
            app.router.add_get(f"{base}/batches", self._list)
            app.router.add_get(f"{base}/batches/{{id}}", self._look)
            app.router.add_post(f"{base}/batches/{{id}}/cancel", self._cancel)

    def plan(self, number: int) -> Plan:
        """Return the plan of a batch by its number from 0."""
        return self._plans[number] if number < len(self._plans) else Plan()

    async def _upload(self, request: web.Request) -> web.Response:
        self.seen("upload")
        form = await request.post()
        assert form["purpose"] == "batch"
        file = form["file"]
        assert isinstance(file, web.FileField)
        refusals = self.plan(self._makings).uploads
        if self._uploads < len(refusals):
            self._uploads += 1
            return _error(refusals[self._uploads - 1])
        self._uploads = 0
        name = f"file-in-{len(self.files)}"
        self.files[name] = (file.filename, file.file.read())
        return web.json_response(
            {
                "id": name,
                "object": "file",
                "bytes": len(self.files[name][1]),
                "created_at": 1700000000,
                "filename": file.filename,
                "purpose": "batch",
            }
        )

    async def _make(self, request: web.Request) -> web.Response:
        self.seen("make")
        if self.gone:
            return _error(HttpError(503))
        asked = await request.json()
        assert asked["endpoint"] == "/v1/chat/completions"
        assert asked["completion_window"] == "24h"
        number = self._makings
        plan = self.plan(number)
        if self._refused[number] < len(plan.refusals):
            self._refused[number] += 1
            return _error(plan.refusals[self._refused[number] - 1])
        texts = self.files[asked["input_file_id"]][1].decode().splitlines()
        crowd = self._most is not None and len(texts) > self._most
        words = "Enqueued token limit reached for gpt-test in organization org-test. Please try again later."
        if crowd and not self._by_status:
            return _error(HttpError(429, {"message": words, "code": "token_limit_exceeded"}))
        if not crowd:
            self._makings += 1
        name = f"batch_{len(self.batches)}"
        data = {
            "id": name,
            "object": "batch",
            "endpoint": asked["endpoint"],
            "errors": None,
            "input_file_id": asked["input_file_id"],
            "completion_window": "24h",
            "status": "validating",
            "output_file_id": None,
            "error_file_id": None,
            "created_at": int(time.time()),
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
            "metadata": asked.get("metadata"),
        }
        made = _Batch(plan, data, texts, hidden=plan.hidden, lookups=list(plan.lookups), torn=plan.torn, cut=plan.cut)
        if crowd:
            errors = [{"code": "token_limit_exceeded", "message": words, "line": None, "param": None}]
            made.plan = Plan(end="failed", errors=errors, looks=0)
        self.batches[name] = made
        self.sizes.append(len(texts))
        self.seen("made")
        self.gone = plan.gone
        if plan.made_unheard and not crowd:
            assert request.transport is not None
            request.transport.abort()
        return web.json_response(data)

    async def _look(self, request: web.Request) -> web.Response:
        self.seen("look")
        batch = self.batches.get(request.match_info["id"])
        if batch is None:
            return _error(HttpError(404, {"message": "No batch found"}))
        if batch.lookups:
            return _error(batch.lookups.pop(0))
        if batch.data["status"] not in ("completed", "failed", "expired", "cancelled"):
            states = batch.plan.states
            batch.data["status"] = states[min(batch.looks, len(states) - 1)]
            if batch.plan.counts:
                batch.data["request_counts"] = {"total": len(batch.texts), "completed": 0, "failed": 0}
            if not self.held and batch.looks >= batch.plan.looks:
                self._end(batch)
            batch.looks += 1
        return web.json_response(batch.data)

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]
        batch.plan = Plan(end="cancelled", share=batch.plan.share or 0)
        self._end(batch)
        return web.json_response(batch.data)

    async def _list(self, request: web.Request) -> web.Response:
        self.listings += 1
        if self.gone:
            return _error(HttpError(503))
        shown = []
        for batch in reversed(self.batches.values()):
            if batch.hidden:
                batch.hidden -= 1
            else:
                shown.append(batch.data)
        names = [each["id"] for each in shown]
        after = request.query.get("after")
        start = names.index(after) + 1 if after else 0
        page = shown[start : start + 2]  # small pages, so that they are turned
        return web.json_response(
            {
                "object": "list",
                "data": page,
                "has_more": start + 2 < len(shown),
                "first_id": page[0]["id"] if page else None,
                "last_id": page[-1]["id"] if page else None,
            }
        )

    async def _content(self, request: web.Request) -> web.StreamResponse:
        self.seen("content")
        name = request.match_info["id"]
        data, batch = self.files[name][1], self._home[name]
        if batch.torn:
            batch.torn -= 1
            return web.Response(body=data[: len(data) * 2 // 3])
        if batch.cut:
            batch.cut -= 1
            response = web.StreamResponse(headers={"Content-Length": str(len(data))})
            await response.prepare(request)
            await response.write(data[: len(data) // 2])
            assert request.transport is not None
            request.transport.close()
            return response
        return web.Response(body=data, content_type="application/octet-stream")

    def _end(self, batch: _Batch) -> None:
        """Answer what the plan says, and write the files."""
        plan, data = batch.plan, batch.data
        data["status"] = plan.end
        if plan.end == "failed":
            data["errors"] = {"object": "list", "data": list(plan.errors)}
            return
        good: list[str] = []
        bad: list[str] = []
        for number, text in enumerate(batch.texts):
            line = json.loads(text)
            assert line["method"] == "POST"
            assert line["url"] == "/v1/chat/completions"
            if plan.share is not None and number >= plan.share:
                if plan.end == "expired":
                    error = {"code": "batch_expired", "message": "This request could not be executed before ..."}
                    bad.append(
                        json.dumps({"id": "r", "custom_id": line["custom_id"], "response": None, "error": error})
                    )
                continue
            received = Received(line["body"], {}, line["url"])
            reply = (plan.lines(number, received) if plan.lines else None) or Answer()
            if isinstance(reply, HttpError):
                body = {"error": reply.error if reply.error is not None else {"message": f"status {reply.status}"}}
                response = {"status_code": reply.status, "request_id": "q", "body": body}
                bad.append(json.dumps({"id": "r", "custom_id": line["custom_id"], "response": response, "error": None}))
                continue
            self.billed[json.dumps(line["body"], sort_keys=True)] += 1
            response = {"status_code": 200, "request_id": "q", "body": self._completion(reply, received)}
            good.append(json.dumps({"id": "r", "custom_id": line["custom_id"], "response": response, "error": None}))
        if plan.counts:
            failed = 0 if plan.end in ("expired", "cancelled") else len(bad)
            data["request_counts"] = {"total": len(batch.texts), "completed": len(good), "failed": failed}
        data["output_file_id"] = self._written(batch, good, "out")
        data["error_file_id"] = self._written(batch, bad, "err")

    def _written(self, batch: _Batch, lines: list[str], kind: str) -> str | None:
        if not lines:
            return None
        if batch.plan.shuffled:
            lines = lines[::-1]
        if batch.plan.doubled:
            lines = [each for line in lines for each in (line, line.replace('"content": "', '"content": "other '))]
        if batch.plan.foreign:
            foreign = {"custom_id": "somebody-else", "response": {"status_code": 200, "body": {}}, "error": None}
            lines = [json.dumps(foreign), *lines]
        name = f"file-{kind}-{len(self.files)}"
        self.files[name] = (name, "".join(f"{line}\n" for line in lines).encode())
        self._home[name] = batch
        return name


def _error(fault: HttpError) -> web.Response:
    headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    body = {"error": fault.error or {"message": f"status {fault.status}"}}
    return web.json_response(body, status=fault.status, headers=headers)

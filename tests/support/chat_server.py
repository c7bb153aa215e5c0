"""A real chat-completions server on the loopback address, whose every fault can be ordered.

    with ChatServer(answer="forty-two", script=[HttpError(429, retry_after=1), Reset()]) as server:
        ...  # server.url, server.requests, server.counts

`script` is a sequence of replies that are used up in order, or a function from the request to a reply; after it, or
where the function returns None, the server answers with `answer`. It can also be started as a program:

    python tests/support/chat_server.py --port-file F --latency-ms 50 --fault-rate 0.3
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

__all__ = [
    "Answer",
    "ChatServer",
    "EmptyChoices",
    "Garbage",
    "Hang",
    "Html",
    "HttpError",
    "Raw",
    "Received",
    "Reset",
    "Storm",
    "word_answer",
]


@dataclass(frozen=True)
class Received:
    """One request as it came: body, headers, path with query, and how often this very body came before."""

    body: dict[str, Any]
    headers: dict[str, str]
    path: str
    seen: int = 0

    @property
    def prompt(self) -> str:
        """The last message's text."""
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True)
class Answer:
    """A chat completion. `extra` is merged into the body (e.g. {"provider": "Acme"}), `message` into each message."""

    text: str | None = None
    finish_reason: str | None = "stop"
    reasoning: str | None = None
    refusal: str | None = None
    cost: float | None = None
    usage: bool = True
    extra: dict[str, Any] = field(default_factory=dict)
    message: dict[str, Any] = field(default_factory=dict)
    choices: int | None = None  # fewer or more than asked for


@dataclass(frozen=True)
class HttpError:
    """An HTTP error. `error` is the error object; a text is sent as it stands."""

    status: int
    error: dict[str, Any] | str | None = None
    retry_after: str | float | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    """Any bytes with status 200."""

    data: bytes
    content_type: str = "application/json"


@dataclass(frozen=True)
class Reset:
    """The connection is cut without an answer."""


@dataclass(frozen=True)
class Hang:
    """No answer for so many seconds, then the usual one."""

    seconds: float = 3600.0


def Garbage() -> Raw:
    """A body that breaks off in the middle."""
    return Raw(b'{"id": "x", "choices": [{"mess')


def Html() -> Raw:
    """What a proxy sends when the server behind it is down."""
    return Raw(b"<!DOCTYPE html><html><head><title>Bad Gateway</title></head><body>x</body></html>", "text/html")


def EmptyChoices() -> Raw:
    """A completion without choices."""
    return Raw(b'{"id": "x", "object": "chat.completion", "choices": [], "usage": null}')


Reply = Answer | HttpError | Raw | Reset | Hang
Script = Sequence[Reply] | Callable[[Received], "Reply | None"]

FAULTS: dict[str, Callable[[], Reply]] = {
    "429": lambda: HttpError(429, {"message": "slow down", "type": "rate_limit_error"}, retry_after=0.01),
    "500": lambda: HttpError(500, {"message": "the server had an error"}),
    "503": lambda: HttpError(503, "<html><title>Service Unavailable</title></html>"),
    "reset": Reset,
    "hang": Hang,
    "empty": lambda: Answer(""),
    "garbage": Garbage,
    "html": Html,
    "nochoices": EmptyChoices,
    "length": lambda: Answer("cut off in the mid", finish_reason="length"),
    "refusal": lambda: Answer("", refusal="I cannot help with that."),
}


@dataclass
class Storm:
    """A script: a share of the requests fails, drawn from the body and how often it came, so in any order the same."""

    rate: float = 0.3
    kinds: Sequence[str] = ("429", "500", "reset", "empty", "garbage", "html", "nochoices")
    seed: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def __call__(self, request: Received) -> Reply | None:
        text = json.dumps([self.seed, request.seen, request.body], sort_keys=True)
        draw = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        if draw / 2**64 >= self.rate:
            return None
        kind = self.kinds[draw % len(self.kinds)]
        if kind == "empty" and request.seen:  # a second empty answer would be the model's own
            kind = "reset"
        self.counts[kind] += 1
        return FAULTS[kind]()


def word_answer(request: Received) -> str:
    """An answer that depends on the messages alone."""
    words = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "iris", "jade", "kelp", "lotus"]
    digest = hashlib.sha256(json.dumps(request.body["messages"]).encode()).digest()
    return words[digest[0] % len(words)]


class ChatServer:
    """The server, in a thread of its own; see the module for its use.

    With `held_after` it answers so many requests, and the others when it is released: a run stands still meanwhile.
    `hold` sets another number, so that a run that is to be killed cannot come to its end before.

    `requests` are all requests in the order they came, `counts` the replies by kind (`ok`, `429`, `reset`, ...),
    `most_in_flight` and `connection_count` what it saw at most and in total.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        answer: str | Callable[[Received], str] = word_answer,
        latency: float = 0.0,
        held_after: int | None = None,
        port: int = 0,
        keep: bool = True,
        prefix: str = "",
    ) -> None:
        self._script: Iterable[Reply] | None = None if callable(script) else iter(script)
        self._function = script if callable(script) else None
        self._answer = answer
        self._latency = latency
        self._held_after = held_after
        self._port = port
        self._keep = keep
        self._prefix = prefix
        self.requests: list[Received] = []
        self.counts: Counter[str] = Counter()
        self.in_flight = self.most_in_flight = 0
        self._seen: Counter[str] = Counter()
        self._came = 0
        self._connections: set[tuple[str, int]] = set()
        self._ready = threading.Event()
        self._arrived = threading.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._released = asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    @property
    def url(self) -> str:
        """The base URL, /v1 included."""
        return f"http://127.0.0.1:{self._port}{self._prefix}/v1"

    def __enter__(self) -> ChatServer:
        self._thread.start()
        assert self._ready.wait(60), "the chat server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None and self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def release(self) -> None:
        """Answer what is held, and all that comes."""
        assert self._loop is not None
        self._held_after = None
        self._loop.call_soon_threadsafe(self._released.set)

    def hold(self, after: int) -> None:
        """Answer until so many requests have come in all; hold those after them until it is released or holds later."""
        assert self._loop is not None
        self._held_after = after
        self._loop.call_soon_threadsafe(self._look_again)

    def _look_again(self) -> None:
        self._released.set()
        self._released.clear()

    def wait_for(self, count: int) -> None:
        """Wait until so many requests have come."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.requests) >= count, 120), "the requests did not come"

    @property
    def connection_count(self) -> int:
        """How many connections have carried requests."""
        return len(self._connections)

    def add_routes(self, app: web.Application) -> None:
        """Let a server that speaks more than this protocol add what it speaks."""

    async def serve_forever(self) -> None:
        """Serve in the running loop, for the program form."""
        await self._serve()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post(f"{self._prefix}/v1/chat/completions", self._handle)
        app.router.add_get("/stats", self._stats)
        self.add_routes(app)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self._port, backlog=1024)
        await site.start()
        self._port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _stats(self, _: web.Request) -> web.Response:
        return web.json_response(
            {
                "counts": dict(self.counts),
                "most_in_flight": self.most_in_flight,
                "connections": self.connection_count,
            }
        )

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        text = await request.text()
        received = Received(json.loads(text), dict(request.headers), request.path_qs, self._seen[text])
        self._seen[text] += 1
        self._came += 1
        number = self._came
        if request.transport is not None:
            self._connections.add(request.transport.get_extra_info("peername"))
        if self._keep:
            with self._arrived:
                self.requests.append(received)
                self._arrived.notify_all()
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            while self._held_after is not None and number > self._held_after:
                await self._released.wait()
            if self._latency:
                await asyncio.sleep(self._latency)
            return await self._reply(self._next(received), received, request)
        finally:
            self.in_flight -= 1

    def _next(self, received: Received) -> Reply:
        if self._function is not None:
            return self._function(received) or Answer()
        assert self._script is not None
        return next(iter(self._script), Answer())

    async def _reply(self, reply: Reply, received: Received, request: web.Request) -> web.StreamResponse:
        if isinstance(reply, Hang):
            self.counts["hang"] += 1
            await asyncio.sleep(reply.seconds)
            reply = Answer()
        if isinstance(reply, Reset):
            self.counts["reset"] += 1
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if isinstance(reply, HttpError):
            self.counts[str(reply.status)] += 1
            headers = dict(reply.headers)
            if reply.retry_after is not None:
                headers["Retry-After"] = str(reply.retry_after)
            if isinstance(reply.error, str):
                return web.Response(status=reply.status, text=reply.error, headers=headers)
            body = {"error": reply.error or {"message": f"status {reply.status}"}}
            return web.json_response(body, status=reply.status, headers=headers)
        if isinstance(reply, Raw):
            self.counts["raw"] += 1
            return web.Response(body=reply.data, content_type=reply.content_type)
        self.counts["ok" if reply.finish_reason == "stop" else str(reply.finish_reason)] += 1
        return web.json_response(self._completion(reply, received))

    def _completion(self, reply: Answer, received: Received) -> dict[str, Any]:
        asked = received.body
        text = reply.text
        if text is None:
            text = self._answer(received) if callable(self._answer) else self._answer
        count = reply.choices if reply.choices is not None else int(asked.get("n", 1))
        body: dict[str, Any] = {
            "id": "chatcmpl-test",
            "object": "chat.completion",
            "created": 1700000000,
            "model": asked["model"],
            "choices": [self._choice(reply, text, index, asked) for index in range(count)],
        }
        if reply.usage:
            prompt = sum(len(str(m.get("content")).split()) for m in asked["messages"])
            thought = len((reply.reasoning or "").split())
            answer = (len(text.split()) + thought) * max(1, count)
            body["usage"] = {
                "prompt_tokens": prompt,
                "completion_tokens": answer,
                "total_tokens": prompt + answer,
                "completion_tokens_details": {"reasoning_tokens": thought * max(1, count)},
            }
            if reply.cost is not None:
                body["usage"]["cost"] = reply.cost
        return {**body, **reply.extra}

    def _choice(self, reply: Answer, text: str, index: int, asked: dict[str, Any]) -> dict[str, Any]:
        said = text if index == 0 or not text else f"{text} {index}"
        message: dict[str, Any] = {"role": "assistant", "content": said}
        if reply.reasoning is not None:
            message["reasoning"] = reply.reasoning
        if reply.refusal is not None:
            message["refusal"] = reply.refusal
        choice: dict[str, Any] = {
            "index": index,
            "message": {**message, **reply.message},
            "finish_reason": reply.finish_reason,
        }
        if asked.get("logprobs"):
            top = int(asked.get("top_logprobs") or 0)
            choice["logprobs"] = {"content": [_token(word, top) for word in said.split()]}
        return choice


def _token(word: str, top: int) -> dict[str, Any]:
    value = -(len(word) % 5) / 4
    ranked = [{"token": f"{word}{i or ''}", "logprob": value - i} for i in range(top)]
    return {"token": word, "logprob": value, "top_logprobs": ranked}


def main() -> None:
    """Run the server as a program until it is ended or `--max-seconds` are over."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument("--port-file", type=Path, help="write the port here once listening")
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--answer", help="the text of every answer; default: a word by the messages")
    parser.add_argument("--fault-rate", type=float, default=0.0, help="share of requests that fail")
    parser.add_argument("--fault-kinds", default=",".join(Storm().kinds), help=f"of {','.join(FAULTS)}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-seconds", type=float, default=3600.0)
    args = parser.parse_args()
    kinds = args.fault_kinds.split(",")
    if set(kinds) - set(FAULTS):
        parser.error(f"--fault-kinds must be of {','.join(FAULTS)}")
    server = ChatServer(
        Storm(args.fault_rate, kinds, args.seed),
        answer=args.answer or word_answer,
        latency=args.latency_ms / 1000,
        port=args.port,
        keep=False,
    )

    async def serve() -> None:
        serving = asyncio.create_task(server.serve_forever())
        await asyncio.to_thread(server._ready.wait, 10)
        port = server.url.rsplit(":", 1)[1].split("/")[0]
        if args.port_file:
            args.port_file.write_text(port)
        print(f"listening on 127.0.0.1:{port}", flush=True)
        await asyncio.wait({serving}, timeout=args.max_seconds)
        serving.cancel()

    asyncio.run(serve())


if __name__ == "__main__":
    main()

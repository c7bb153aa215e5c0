#!/usr/bin/env python3
"""The same prompts as the harnesses, sent by a bare HTTP client: post, read, parse, take the text.

python benchmarks/overhead/bare_client.py aiohttp --url URL --data FILE --concurrency N --limit N
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

Send = Callable[[bytes], Awaitable[bytes]]
Close = Callable[[], Awaitable[Any]]
_JSON = {"Content-Type": "application/json"}


def with_aiohttp(url: str) -> tuple[Send, Close]:
    import aiohttp

    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar())

    async def send(body: bytes) -> bytes:
        async with session.post(url, data=body, headers=_JSON) as response:
            return await response.read()

    return send, session.close


def with_pycurl(url: str) -> tuple[Send, Close]:
    import pycurl

    multi = pycurl.AsyncCurlMulti()
    unused: list[pycurl.Curl] = []

    async def send(body: bytes) -> bytes:
        curl = unused.pop() if unused else pycurl.Curl()
        received: list[bytes] = []
        curl.setopt(pycurl.URL, url)
        curl.setopt(pycurl.HTTPHEADER, [f"{name}: {value}" for name, value in _JSON.items()])
        curl.setopt(pycurl.POSTFIELDS, body)
        curl.setopt(pycurl.WRITEFUNCTION, received.append)
        await multi.add_handle(curl)
        unused.append(curl)
        return b"".join(received)

    return send, multi.aclose


CLIENTS = {"aiohttp": with_aiohttp, "pycurl": with_pycurl}


async def ask(client: str, url: str, prompts: list[str], concurrency: int) -> int:
    """Send each prompt; return the characters of all answers."""
    send, close = CLIENTS[client](f"{url}/chat/completions")
    waiting = iter(prompts)
    received = 0

    async def work() -> None:
        nonlocal received
        for prompt in waiting:
            asked = {"model": "mock", "messages": [{"role": "user", "content": prompt}], "temperature": 0}
            answer = json.loads(await send(json.dumps({**asked, "max_tokens": 16}).encode()))
            received += len(answer["choices"][0]["message"]["content"])

    await asyncio.gather(*(work() for _ in range(concurrency)))
    await close()
    return received


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("--url", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--limit", type=int)
    args = parser.parse_args()
    rows = [json.loads(line) for line in args.data.read_text("utf-8").splitlines()[: args.limit]]
    prompts = [row["input"] for row in rows]
    print(asyncio.run(ask(args.client, args.url, prompts, args.concurrency)))


if __name__ == "__main__":
    main()

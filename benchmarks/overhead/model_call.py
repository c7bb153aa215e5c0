#!/usr/bin/env python3
"""Processor time of one chat call through creval's model layer, compared with bare aiohttp.

    python model_call.py --url http://127.0.0.1:PORT/v1

Each variant runs in a process of its own, several times, in turn; the table shows medians and ratios. The time is
user + system of the calling process, over --calls calls after --warm calls that are not counted, with
--concurrency of them in flight. The server must run in another process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

VARIANTS = {
    "aiohttp": "bare aiohttp: post, read, parse, take the text",
    "creval": "creval's Model.generate",
    "creval+cache": "Model.generate with an answer cache (every call new, so every answer is written)",
    "creval+budget": "Model.generate with --max-calls",
    "litellm": "creval's Model.generate through litellm",
}
Call = Callable[[int], Awaitable[Any]]


def processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def bare(url: str, concurrency: int) -> tuple[Call, Callable[[], Awaitable[None]]]:
    """A call with nothing around it, as the floor."""
    import aiohttp

    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency))

    async def call(i: int) -> str:
        body = {
            "model": "mock",
            "messages": [{"role": "user", "content": f"Item {i}: what is the code word?"}],
            "temperature": 0,
            "max_tokens": 16,
        }
        async with session.post(url + "/chat/completions", json=body) as response:
            text: str = json.loads(await response.read())["choices"][0]["message"]["content"]
            return text

    return call, session.close


async def through_creval(url: str, concurrency: int, variant: str) -> tuple[Call, Callable[[], Awaitable[None]]]:
    """The same call through the facade."""
    from creval.models.budget import Budget
    from creval.models.model_options import ModelOptions
    from creval.models.open_model import open_model
    from creval.plugins import builtin
    from creval.plugins.registry import Registry
    from creval.types.messages import GenerateRequest, Message, Origin
    from creval.types.sample import SampleKey

    registry = Registry()
    builtin.register(registry.scoped("core"))
    options = ModelOptions(
        base_url=url,
        concurrency=concurrency,
        cache=Path(tempfile.mkdtemp()) / "answers.sqlite" if "cache" in variant else None,
        budget=Budget(max_calls=10**9) if "budget" in variant else Budget(),
    )
    spec = "litellm/openai/mock" if variant == "litellm" else "openai/mock"
    model = open_model(spec, registry, options)
    settings = {"temperature": 0, "max_tokens": 16}

    async def call(i: int) -> str:
        message = Message("user", f"Item {i}: what is the code word?")
        origin = Origin(SampleKey("bench", str(i), "default", 0))
        return (await model.generate(GenerateRequest((message,), settings, origin))).text

    return call, model.close


async def measure(variant: str, args: argparse.Namespace) -> dict[str, float]:
    if variant == "aiohttp":
        call, close = await bare(args.url, args.concurrency)
    else:
        call, close = await through_creval(args.url, args.concurrency, variant)

    async def spread(first: int, count: int) -> None:
        todo = iter(range(first, first + count))

        async def worker() -> None:
            for i in todo:
                if not await call(i):
                    raise SystemExit("an empty answer")

        await asyncio.gather(*(worker() for _ in range(args.concurrency)))

    await spread(0, args.warm)
    await asyncio.sleep(0.2)
    before, start = processor_seconds(), time.perf_counter()
    await spread(args.warm, args.calls)
    wall = time.perf_counter() - start
    # Work left for later (writing the cache) is part of the price.
    await close()
    return {"ms": 1000 * (processor_seconds() - before) / args.calls, "calls_per_second": args.calls / wall}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--variant", choices=list(VARIANTS), help="measure this one here and print JSON")
    parser.add_argument("--variants", default="aiohttp,creval,creval+cache,creval+budget", help="comma-separated")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--warm", type=int, default=200)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--profile", action="store_true", help="with --variant: print a profile too")
    args = parser.parse_args()
    if args.variant:
        if args.profile:
            import cProfile

            profile = cProfile.Profile()
            profile.enable()
            result = asyncio.run(measure(args.variant, args))
            profile.disable()
            profile.print_stats("tottime")
        else:
            result = asyncio.run(measure(args.variant, args))
        print(json.dumps(result))
        return
    names = args.variants.split(",")
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for _ in range(args.runs):
        for name in names:
            command = [sys.executable, __file__, "--url", args.url, "--variant", name]
            command += ["--calls", str(args.calls), "--warm", str(args.warm), "--concurrency", str(args.concurrency)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            if done.returncode:
                raise SystemExit(f"{name} failed: {done.stderr.strip()[-500:]}")
            rows[name].append(json.loads(done.stdout.splitlines()[-1]))
    floor = statistics.median(row["ms"] for row in rows[names[0]])
    print(f"| variant | CPU ms a call | against {names[0]} | calls/s | spread of CPU ms | |")
    print("|---|---|---|---|---|---|")
    for name in names:
        ms = sorted(row["ms"] for row in rows[name])
        rate = statistics.median(row["calls_per_second"] for row in rows[name])
        middle = statistics.median(ms)
        spread = f"{ms[0]:.3f}-{ms[-1]:.3f}"
        print(f"| {name} | {middle:.3f} | x{middle / floor:.2f} | {rate:.0f} | {spread} | {VARIANTS[name]} |")


if __name__ == "__main__":
    main()

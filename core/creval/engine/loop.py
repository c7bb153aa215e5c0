"""Runs the engine's coroutines from anywhere: a script, the command line, a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["drive"]

T = TypeVar("T")


def drive(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end in an event loop of its own; where a loop is running already (a notebook), in a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()

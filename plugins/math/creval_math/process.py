"""The process of `creval_math.worker`, seen from creval: started when first needed, ended when it takes too long."""

from __future__ import annotations

import atexit
import functools
import importlib.util
import json
import selectors
import subprocess
import sys
import threading
from collections import OrderedDict
from typing import Any

from creval.plugin import MissingPartError

__all__ = ["Expressions", "MathError", "shared"]

_START = 60.0
"""Seconds that the process may take to import its packages, besides those of the first question."""
_KEPT = 4_096
_LONGEST = 2_000


class MathError(Exception):
    """An expression cannot be read, or two cannot be compared within the time."""


@functools.cache
def shared() -> Expressions:
    """Return the process shared by this program."""
    found = Expressions()
    atexit.register(found.close)
    return found


class Expressions:
    """Reads and compares LaTeX in another process, and caches the results."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, ...], dict[str, Any]] = OrderedDict()

    def read(self, text: str, seconds: float) -> None:
        """Raise MathError if a text is not an expression, or takes longer than `seconds` to read."""
        self._ask((text,), seconds)

    def equal(self, one: str, other: str, seconds: float) -> bool:
        """Return whether two expressions have the same value. Raises MathError if one is invalid or too slow."""
        return bool(self._ask((one, other), seconds)["equal"])

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _ask(self, texts: tuple[str, ...], seconds: float) -> dict[str, Any]:
        if any(len(text) > _LONGEST for text in texts):
            raise MathError(f"it has more than {_LONGEST} characters")
        with self._lock:
            if texts not in self._kept:
                self._kept[texts] = self._answer(texts, seconds)
                if len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            found = self._kept[texts]
        if not found["ok"]:
            raise MathError(found["reason"])
        return found

    def _answer(self, texts: tuple[str, ...], seconds: float) -> dict[str, Any]:
        process, fresh = self._running()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps({"texts": texts}).encode() + b"\n")
            process.stdin.flush()
            line = self._line(process, seconds + (_START if fresh else 0.0))
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            self._end()
            return {"ok": False, "reason": f"it takes more than {seconds:g} s, or too much memory"}
        found: dict[str, Any] = json.loads(line)
        return found

    def _line(self, process: subprocess.Popen[bytes], seconds: float) -> bytes:
        with selectors.DefaultSelector() as waiting:
            assert process.stdout is not None
            waiting.register(process.stdout, selectors.EVENT_READ)
            return process.stdout.readline() if waiting.select(seconds) else b""

    def _running(self) -> tuple[subprocess.Popen[bytes], bool]:
        if self._process is not None and self._process.poll() is None:
            return self._process, False
        if importlib.util.find_spec("math_verify") is None:
            raise MissingPartError(
                "expressions are read with the package math-verify, which is not installed",
                fix="Install it: pip install math-verify",
            )
        self._process = subprocess.Popen(
            [sys.executable, "-m", "creval_math.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        return self._process, True

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._process.wait()
        self._process = None

"""Running a command and taking its time, and the mock server next to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Timing", "mock_server", "reset", "stats", "timed"]


@dataclass(frozen=True)
class Timing:
    """One command: wall seconds, processor seconds (user + system, children included), peak memory in MB."""

    wall: float
    cpu: float
    peak_mb: float


def timed(command: Sequence[str], cwd: Path, environment: dict[str, str], log: Path) -> Timing:
    """Run a command to its end. Raises SystemExit with its last words where it fails."""
    with log.open("wb") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=cwd, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        words = log.read_text("utf-8", "replace")[-1500:]
        raise SystemExit(f"{command[0]} ended with {process.returncode}:\n{words}")
    scale = 1024 if sys.platform != "darwin" else 1024 * 1024
    return Timing(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale)


@contextmanager
def mock_server(bench: Path, work: Path, latency_ms: float) -> Iterator[str]:
    """Start the bench's mock server in a process of its own; gives the base URL."""
    port_file = work / "port"
    port_file.unlink(missing_ok=True)
    command = [sys.executable, str(bench / "mock_openai.py"), "--latency-ms", str(latency_ms)]
    with (work / "server.log").open("ab") as log:
        server = subprocess.Popen([*command, "--port-file", str(port_file)], stdout=log, stderr=log)
    try:
        for _ in range(200):
            if port_file.exists() and port_file.read_text().strip():
                break
            time.sleep(0.05)
        else:
            raise SystemExit(f"the mock server did not start; see {work / 'server.log'}")
        yield f"http://127.0.0.1:{port_file.read_text().strip()}/v1"
    finally:
        server.terminate()
        server.wait()


def stats(url: str) -> dict[str, float]:
    """The server's counts since the last reset."""
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/stats", timeout=10) as answer:
        counts: dict[str, float] = json.load(answer)
        return counts


def reset(url: str) -> None:
    """Set the server's counts to zero."""
    request = urllib.request.Request(f"{url.removesuffix('/v1')}/reset", method="POST")
    urllib.request.urlopen(request, timeout=10).read()

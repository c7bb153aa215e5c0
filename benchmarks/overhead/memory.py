#!/usr/bin/env python3
"""Whether memory stays flat as samples grow: peak memory of one creval run each of several sizes.

python -m benchmarks.overhead.memory --bench DIR --counts 2000 20000 100000      (from the repository's root)
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import mock_server, timed
from benchmarks.overhead.harnesses import Job, command, executable


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--bench", type=Path, required=True, help="the folder of the mock server")
    parser.add_argument("--counts", type=int, nargs="+", default=[2000, 20_000, 100_000])
    parser.add_argument("--concurrency", type=int, default=64)
    args = parser.parse_args()
    bench = args.bench.resolve()
    program = executable("creval")
    if program is None:
        raise SystemExit("creval is not installed in the environment of this Python")
    print("| samples | peak MB | wall s | CPU ms a sample, start-up included |\n|---|---|---|---|")
    for count in args.counts:
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            make = [sys.executable, str(bench / "make_data.py"), str(work / "data.jsonl"), "--count", str(count)]
            subprocess.run(make, check=True)
            with mock_server(bench, work, 0) as url:
                job = Job(url, bench, work, work / "out", args.concurrency, count, count)
                timing = timed(command("creval", program, job), work, {"OPENAI_API_KEY": "mock"}, work / "log")
        print(f"| {count} | {timing.peak_mb:.0f} | {timing.wall:.1f} | {1000 * timing.cpu / count:.2f} |", flush=True)


if __name__ == "__main__":
    main()

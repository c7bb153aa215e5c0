#!/usr/bin/env python3
"""What it takes to resume a run that has nothing left to do: processor time of creval resume.

python -m benchmarks.overhead.resume --bench DIR --counts 100000      (from the repository's root)

It is compared with one plain pass of json.loads over the same files: docs, samples, scores.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import mock_server, timed
from benchmarks.overhead.harnesses import Job, command, executable

PLAIN = "import json, sys\nfor name in sys.argv[1:]:\n    for line in open(name, 'rb'):\n        json.loads(line)"
KEY = {"OPENAI_API_KEY": "mock"}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--bench", type=Path, required=True, help="the folder of the mock server")
    parser.add_argument("--counts", type=int, nargs="+", default=[100_000])
    parser.add_argument("--pairs", type=int, default=5)
    args = parser.parse_args()
    bench = args.bench.resolve()
    program = executable("creval")
    if program is None:
        raise SystemExit("creval is not installed in the environment of this Python")
    print("| samples | resume CPU s | peak MB | plain pass CPU s | ratio |\n|---|---|---|---|---|")
    for count in args.counts:
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            make = [sys.executable, str(bench / "make_data.py"), str(work / "data.jsonl"), "--count", str(count)]
            subprocess.run(make, check=True)
            with mock_server(bench, work, 0) as url:
                job = Job(url, bench, work, work / "out", 64, count, count)
                timed(command("creval", program, job), work, KEY, work / "log")
            files = [str(work / "data.jsonl"), *map(str, sorted((work / "out").glob("s*/*.jsonl")))]
            resumed, plain = [], []
            for _ in range(args.pairs):
                resumed.append(timed([program, "resume", str(work / "out")], work, KEY, work / "log"))
                plain.append(timed([sys.executable, "-c", PLAIN, *files], work, {}, work / "log").cpu)
            cpu, bare = statistics.median(each.cpu for each in resumed), statistics.median(plain)
        print(f"| {count} | {cpu:.2f} | {resumed[-1].peak_mb:.0f} | {bare:.2f} | x{cpu / bare:.2f} |", flush=True)


if __name__ == "__main__":
    main()

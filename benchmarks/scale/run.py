#!/usr/bin/env python3
"""A million replayed samples next to a tenth of them: peak memory, and processor time of each step.

python -m benchmarks.scale.run [--samples 1000000] [--keep DIR]      (from the repository's root)

Each step is a process of its own: the run (`creval --model replay/FILE`: generation, scoring, aggregation), `creval
resume` of the finished run, `creval report` of it; and where --shards is given, `creval merge` of the run in shards.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measuring import Timing, timed

TASK = """\
schema: 1
task: scale
version: 1.0.0
title: One line
dataset: {source: file, file: docs.jsonl, id: id}
prompt:
  - {role: user, content: "Answer with the one word that comes to mind first: {{ word }}"}
generation: {max_tokens: 16}
score: exact_match
metrics:
  - {name: right, from: exact_match, aggregate: mean, primary: true, failed: zero}
"""


def write(folder: Path, count: int) -> None:
    """Write the task, its docs, and the answers that are replayed (every fourth is wrong)."""
    (folder / "scale.yaml").write_text(TASK)
    with (folder / "docs.jsonl").open("w") as docs, (folder / "answers.jsonl").open("w") as answers:
        for index in range(count):
            doc, word = f"doc-{index:07d}", f"word{index % 9973}"
            target = word if index % 4 else "other"
            docs.write(json.dumps({"id": doc, "word": word, "target": target}) + "\n")
            answers.write(json.dumps({"task": "scale", "doc": doc, "answers": [word]}) + "\n")


def measured(count: int, folder: Path, shards: int) -> dict[str, Timing]:
    """Return what each step took at so many samples; it is checked that nothing was lost."""
    write(folder, count)
    base = [sys.executable, "-m", "creval"]
    run = [*base, "--tasks", "scale.yaml", "--model", "replay/answers.jsonl", "--seed", "1"]

    def step(*words: str, command: Sequence[str] = ()) -> Timing:
        return timed([*(command or base), *words], folder, {"OMP_NUM_THREADS": "1"}, folder / "log")

    steps = {"run": step("--output", "run", command=run)}
    results = json.loads((folder / "run" / "results.json").read_text())["tasks"][0]
    assert results["counts"]["scored"] == count and results["metrics"][0]["value"] == 0.75, results["counts"]
    steps["resume"] = step("resume", "run")
    steps["report"] = step("report", "run")
    if shards:
        folders = [f"shard-{number}" for number in range(1, shards + 1)]
        for number, name in enumerate(folders, 1):
            step("--output", name, "--shard", f"{number}/{shards}", command=run)
        steps["merge"] = step("merge", *folders, "--output", "merged")
        whole, merged = ((folder / name / "results.json").read_text() for name in ("run", "merged"))
        assert merged.replace('"run": "merged"', '"run": "run"') == whole
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--shards", type=int, default=0, help="also make so many shards, and merge them")
    parser.add_argument("--keep", type=Path, help="a folder for what is made, which stays")
    args = parser.parse_args()
    if args.keep is not None:
        args.keep.mkdir(parents=True, exist_ok=True)
    print(f"load before: {os.getloadavg()[0]:.2f} of {os.cpu_count()} cores\n", flush=True)
    print("| samples | step | peak MB | CPU s | wall s | CPU us a sample |\n|---|---|---|---|---|---|")
    for count in (max(1, args.samples // 10), args.samples):
        with tempfile.TemporaryDirectory(dir=args.keep) as made:
            folder = Path(made) if args.keep is None else args.keep / str(count)
            folder.mkdir(exist_ok=True)
            for name, timing in measured(count, folder, args.shards).items():
                each = 1e6 * timing.cpu / count
                figures = f"{timing.peak_mb:.0f} | {timing.cpu:.1f} | {timing.wall:.1f} | {each:.1f}"
                print(f"| {count:,} | {name} | {figures} |", flush=True)
    print(f"\nload after: {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()

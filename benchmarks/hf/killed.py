"""Kills a run of 2,000 samples of a tiny model with SIGKILL at ten moments, resumes it each time, and compares.

    python benchmarks/hf/killed.py [--samples 2000] [--moments 10] [--folder FOLDER]

Prints a row for each moment: samples in the run folder when it was killed. At the end it holds the resumed run to one
that nobody killed: each sample once, and the same text, status and metrics.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "plugins" / "hf" / "tests"))
TASK = """schema: 1
task: say
version: 1.0.0
title: Say a word
dataset: {source: file, file: say.jsonl, id: id}
prompt: [{role: user, content: "Say {{ word }}"}]
generation: {max_tokens: 16, temperature: 1.0}
score: exact_match
metrics: [{name: near, from: exact_match, aggregate: mean, primary: true, failed: zero}]
"""


def main() -> None:
    """Make the model and the task, run, kill, resume and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--folder", type=Path, default=None)
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="creval-hf-"))
    folder.mkdir(parents=True, exist_ok=True)
    prepare(folder, asked.samples)
    started = time.perf_counter()
    creval(folder, "--tasks", "say.yaml", "--model", "hf/./tiny", "--offline", "--output", "whole").wait()
    print(f"{asked.samples} samples that nobody killed: {time.perf_counter() - started:.1f} s")
    rows = folder / "killed" / "samples" / "say.jsonl"
    chance = random.Random(1)
    for moment in range(asked.moments):
        wanted = int(asked.samples * (moment + chance.random()) / asked.moments * 0.95)
        process = resumed(folder)
        begun = time.perf_counter()
        while count(rows) < wanted and process.poll() is None:
            time.sleep(0.002)
        time.sleep(chance.random() * 0.2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        print(f"killed after {time.perf_counter() - begun:5.1f} s with {count(rows):5d} samples", flush=True)
    resumed(folder).wait()
    compare(folder, asked.samples)


def prepare(folder: Path, samples: int) -> None:
    """Write the tiny model and the task."""
    from tiny_models import save_tiny

    if not (folder / "tiny").exists():
        save_tiny(folder / "tiny")
    rows = [{"id": f"d{i}", "word": "with " * (i % 17) + f"word{i}", "target": f"word{i}"} for i in range(samples)]
    (folder / "say.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "say.yaml").write_text(TASK)


def creval(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start the command."""
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-m", "creval", *words], cwd=folder, **quiet)


def resumed(folder: Path) -> subprocess.Popen[bytes]:
    """Start the run, or go on with it."""
    if (folder / "killed" / "run.json").exists():
        return creval(folder, "resume", "killed")
    return creval(folder, "--tasks", "say.yaml", "--model", "hf/./tiny", "--offline", "--output", "killed")


def count(rows: Path) -> int:
    """Return how many whole lines a file has."""
    return rows.read_bytes().count(b"\n") if rows.exists() else 0


def compare(folder: Path, samples: int) -> None:
    """Hold the two runs against each other."""
    found = {}
    for name in ("whole", "killed"):
        lines = [json.loads(line) for line in (folder / name / "samples" / "say.jsonl").read_text().splitlines()]
        texts = {line["doc_id"]: (line["calls"][0]["reply"]["completions"], line["status"]) for line in lines}
        assert len(lines) == len(texts) == samples, f"{name}: {len(lines)} lines, {len(texts)} samples"
        results = json.loads((folder / name / "results.json").read_text())
        found[name] = texts, [task["metrics"] for task in results["tasks"]]
    same = sum(found["whole"][0][doc] == found["killed"][0][doc] for doc in found["whole"][0])
    print(f"{same} of {samples} answers are equal; metrics equal: {found['whole'][1] == found['killed'][1]}")


if __name__ == "__main__":
    main()

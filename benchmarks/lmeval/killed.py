"""Kills a run of 2,000 samples of lm-eval's tasks with SIGKILL at ten moments, resumes it each time, and compares.

    python benchmarks/lmeval/killed.py [--samples 2000] [--moments 10] [--folder FOLDER]

Half of the samples are of gsm8k (five examples, generated answers), half of piqa (log-likelihoods), on made-up data.
The server is in this process and counts the requests: a sample that is in the run folder is never asked again, so each
kill costs at most what was in flight. At the end the resumed run is held to one that nobody killed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
TASKS = ("gsm8k", "piqa")
IN_FLIGHT = 8


def main() -> None:
    """Make the data, run, kill, resume and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--folder", type=Path, default=None)
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="creval-lmeval-"))
    os.environ |= {"CREVAL_CACHE": f"{folder}/cache", "CREVAL_STATE": f"{folder}/state", "HF_HOME": f"{folder}/hf"}
    os.environ["CREVAL_PLUGINS"] = "lmeval,likelihoods"
    from support.lmeval_data import make_data
    from support.lmeval_server import GeneratingServer

    make_data(folder, asked.samples // len(TASKS))
    with GeneratingServer(steady=True) as server:
        server._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # killed clients are the point
        from creval_lmeval.library import load_task

        os.chdir(folder)
        for task in TASKS:  # imports lm-eval, and reads the data, before any fork
            load_task(task)
        os.waitpid(started(folder, server.url, "whole"), 0)
        whole = calls(server)
        print(f"a run that nobody killed: {rows(folder, 'whole')} samples, {whole} requests", flush=True)
        server.requests.clear()
        chance = random.Random(1)
        for moment in range(asked.moments):
            wanted = int(asked.samples * (moment + chance.random()) / asked.moments * 0.95)
            process = started(folder, server.url, "killed")
            while rows(folder, "killed") < wanted:
                time.sleep(0.01)
            time.sleep(chance.random() * 0.2)
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            print(f"killed with {rows(folder, 'killed'):5d} samples after {calls(server):5d} requests", flush=True)
        os.waitpid(started(folder, server.url, "killed"), 0)
        compare(folder, asked.samples, whole, calls(server))


def started(folder: Path, url: str, name: str) -> int:
    """Start the run in a process of its own, or continue it; returns the number of the process.

    It is a fork, which has lm-eval imported already: with each kill that would take longer than the run.
    """
    child = os.fork()
    if child == 0:
        try:
            play(folder, url, name)
        finally:
            os._exit(0)
    return child


def play(folder: Path, url: str, name: str) -> None:
    """Start the run, or continue it."""
    import creval
    from creval.engine.run import resume

    if (folder / name / "run.json").exists():
        resume(folder / name)
        return
    options = creval.RunOptions(base_url=url, output=folder / name, concurrency=IN_FLIGHT)
    creval.run([f"lmeval/{task}" for task in TASKS], "chat/mock", options)


def calls(server: Any) -> int:
    """Return how often a model was asked."""
    return len(server.of("/v1/completions"))


def rows(folder: Path, name: str) -> int:
    """Return how many whole lines the samples of a run have."""
    return sum(file.read_bytes().count(b"\n") for file in (folder / name / "samples").glob("*.jsonl"))


def compare(folder: Path, samples: int, whole: int, asked: int) -> None:
    """Hold the two runs against each other."""
    found = {}
    for name in ("whole", "killed"):
        lines = [
            (task, json.loads(line))
            for task in TASKS
            for line in (folder / name / "samples" / f"{task}.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        said = {(task, line["doc_id"]): (replies(line), line["status"]) for task, line in lines}
        assert len(lines) == len(said) == samples, f"{name}: {len(lines)} lines, {len(said)} samples"
        results = json.loads((folder / name / "results.json").read_text(encoding="utf-8"))
        found[name] = said, [task["metrics"] for task in results["tasks"]]
    same = sum(found["whole"][0][key] == found["killed"][0][key] for key in found["whole"][0])
    print(f"{same} of {samples} samples are equal; metrics equal: {found['whole'][1] == found['killed'][1]}")
    print(f"{asked - whole} requests more than the {whole} of the run that nobody killed")


def replies(line: dict[str, Any]) -> list[Any]:
    """Return what the model said in a sample."""
    return [call["reply"]["completions"] for call in line["calls"]]


if __name__ == "__main__":
    main()

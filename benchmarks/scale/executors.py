#!/usr/bin/env python3
"""What it costs to make samples in other processes: 1, 2 and 4 Ray workers next to the local loop, on one machine.

    python -m benchmarks.scale.executors [--work sandbox,embedding,plain] [--limit N] [--workers 1,2,4]

`sandbox` judges the programs of a person (NeoCoder's own problems, ceiling), `embedding` embeds word lists (DRAT,
floor), `plain` replays one-word answers: what is left is the executor itself. Processor time is that of the run: of the
command and of the workers from the moment that a worker is open. What the command took before is `start`; Ray's own
processes (raylet, GCS, agents) are told apart. Each way runs in a process of its own, in turn, and must come to the
same results, to 0.00001. The clock says little where others work too.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

NEAR = 1e-5
"""An encoder's vectors depend in their last digits on which texts are embedded together, here as in a resumed run."""
TICK = os.sysconf("SC_CLK_TCK")
PLAIN = """\
schema: 1
task: words
version: 1.0.0
title: Say a word
dataset: {source: file, file: words.jsonl, id: id}
prompt:
  - {role: user, content: "Say {{ word }}"}
score: exact_match
metrics:
  - {name: right, from: exact_match, aggregate: mean, primary: true, failed: zero}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", default="sandbox,embedding,plain")
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--limit", type=int, default=0, help="docs, in place of each work's own number")
    parser.add_argument("--one", nargs=2, metavar=("WORK", "WORKERS"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measured(args.one[0], int(args.one[1]), args.limit)))
        return
    counts = [0, *map(int, args.workers.split(","))]
    print(f"cores {os.cpu_count()}, load {os.getloadavg()[0]:.1f} before")
    print("work       executor  samples  clock s    start  command  workers  ratio  Ray own")
    for work in args.work.split(","):
        alone: dict[str, Any] = {}
        for count in counts:
            found = in_its_own_process(work, count, args.limit)
            alone = alone or found
            apart = difference(found["results"], alone["results"])
            if apart > NEAR:
                raise SystemExit(f"{work} with {count} workers came to other results: by {apart:g}")
            total = found["command"] + found["workers"]
            ratio = total / (alone["command"] + alone["workers"])
            name = f"ray {count}" if count else "local"
            print(
                f"{work:10} {name:9} {found['samples']:7} {found['clock']:8.1f} {found['start']:8.2f} "
                f"{found['command']:8.2f} {found['workers']:8.2f} {ratio:6.2f} {found['ray']:8.2f}",
                flush=True,
            )
            if apart:
                print(f"{'':10} a number differs by {apart:.1e}: other texts were embedded together", flush=True)
            if work == "plain" and count:
                extra = (total - alone["command"]) / found["samples"]
                print(f"{'':10} overhead of the executor: {extra * 1e6:.0f} us of the processor a sample", flush=True)
    print(f"load {os.getloadavg()[0]:.1f} after")


def difference(one: Any, other: Any) -> float:
    """Return by how much two results differ at most; infinite where in more than numbers."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other)
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return max((difference(one[key], other[key]) for key in one), default=0.0)
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return max(map(difference, one, other), default=0.0)
    return 0.0 if one == other else float("inf")


def in_its_own_process(work: str, count: int, limit: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scale.executors", "--one", work, str(count), "--limit", str(limit)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(work: str, count: int, limit: int) -> dict[str, Any]:
    """Run one work with so many workers (0: the local loop), and return what it took."""
    from creval import RunOptions
    from creval.engine.run import run_new

    spent = {"workers": 0.0, "ray": 0.0, "begun": 0.0}
    if count:
        watch(spent)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CREVAL_CACHE"] = f"{folder}/cache"
        tasks, model, given = WORKS[work](Path(folder), limit)
        ray = {"executor": "ray", "executor_options": {"workers": str(count), "env": "CREVAL_CACHE"}} if count else {}
        options = RunOptions(output=Path(folder) / "run", seed=1, **given, **ray)
        clock, before = time.perf_counter(), own()
        done = run_new(tasks, model, options)
        begun = spent.pop("begun") or before
        took = {"clock": time.perf_counter() - clock, "start": begun - before, "command": own() - begun}
    results = [{key: task[key] for key in ("task", "hash", "counts", "metrics")} for task in done.results["tasks"]]
    return {**took, **spent, "samples": sum(task["planned"] for task in done.results["tasks"]), "results": results}


def own() -> float:
    """Seconds of the processor of this process and of those that it started and waited for."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def of_process(pid: int) -> float:
    """Seconds of the processor of another process and of those that it waited for; 0 where it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICK


def of_family(pid: int) -> float:
    """Seconds of the processor of a process and of all below it, such as its sandboxes."""
    children: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(place.name))
    family, new = set[int](), {pid}
    while new:
        family |= new
        new = {child for each in new for child in children.get(each, ())} - family
    return sum(map(of_process, family))


def watch(spent: dict[str, float]) -> None:
    """Note what workers take from the moment their parts are open until they are closed."""
    from creval_ray.executor import RayExecutor
    from creval_ray.handle import WorkerHandle
    from creval_ray.pool import WorkerPool

    began: dict[int, float] = {}
    opening, closing, starting = WorkerHandle.open, WorkerPool.close, RayExecutor.open

    async def opened(self: WorkerHandle, *given: Any) -> None:
        await opening(self, *given)
        began[self.pid] = of_family(self.pid)

    async def closed(self: WorkerPool) -> None:
        spent["workers"] += sum(of_family(worker.pid) - began[worker.pid] for worker in self.workers)
        spent["ray"] += sum(map(of_process, processes_of_ray()))
        await closing(self)

    async def started(self: RayExecutor, context: Any) -> None:
        await starting(self, context)
        spent["begun"] = own()

    WorkerHandle.open, WorkerPool.close, RayExecutor.open = opened, closed, started  # type: ignore[method-assign]


def processes_of_ray() -> list[int]:
    """Return Ray's own processes below this one: raylet, GCS, agents, monitors; not the workers."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        session = f"{Path(sys.prefix)}/lib"
        if "ray::Worker" not in words and ("ray::" in words or ("/ray/" in words and session in words)):
            found.append(int(place.name))
    return found


def sandbox(folder: Path, limit: int) -> tuple[list[str], str, dict[str, Any]]:
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
    from support.chat_server import ChatServer

    server = ChatServer(answer="- for loop").__enter__()  # who names the techniques; until this process ends
    os.environ["HOSTED_VLLM_API_BASE"] = server.url
    return (
        ["neocoder_own_state0"],
        "baseline/ceiling",
        {"limit": limit or 15, "repeats": 6, "allow_code_execution": True, "roles": {"augmenter": "hosted_vllm/m"}},
    )


def embedding(folder: Path, limit: int) -> tuple[list[str], str, dict[str, Any]]:
    return (
        ["drat"],
        "baseline/floor",
        {"limit": limit or 30, "repeats": 6, "resources": {"embedding": "embedded/minilm"}, "offline": True},
    )


def plain(folder: Path, limit: int) -> tuple[list[str], str, dict[str, Any]]:
    count = limit or 2000
    docs = [{"id": f"d{i}", "word": f"word{i}", "target": f"word{i}"} for i in range(count)]
    said = [
        {"task": "words", "doc_id": f"d{i}", "condition": "default", "repeat": 0, "answers": [f"word{i}"]}
        for i in range(count)
    ]
    (folder / "words.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    (folder / "said.jsonl").write_text("".join(json.dumps(line) + "\n" for line in said))
    (folder / "words.yaml").write_text(PLAIN)
    return [str(folder / "words.yaml")], f"replay/{folder / 'said.jsonl'}", {}


WORKS = {"sandbox": sandbox, "embedding": embedding, "plain": plain}

if __name__ == "__main__":
    main()

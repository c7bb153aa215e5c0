#!/usr/bin/env python3
"""What a case costs in the sandbox, next to a plain loop of one bubblewrap and one interpreter per case.

    python -m benchmarks.sandbox.run [--data FOLDER] [--programs N] [--pairs N] [--all]

The programs are the first Python solution to each NeoCoder problem, the cases its published tests; both ways use the
same mounts, interpreter, interpreter flags and limits, and two workers. Processor time is that of this process and of
all it started, so the load of the machine does not matter much. `--all` judges every human Python solution once.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from creval.plugin.programs import Limits, Program
from creval_sandbox.bubblewrap import BubblewrapSandbox
from creval_sandbox.command import ENVIRONMENT, PYTHON_FLAGS, isolation
from creval_sandbox.mounts import mounts
from creval_sandbox.probe import find_manner

WORKERS = 2
LIMITS = Limits(cpu_seconds=5.0)

RUNNER = """
import os, resource, site, sys
source = sys.argv[1]
for name, value in zip(("CPU", "AS", "FSIZE", "NOFILE", "CORE", "STACK"), map(int, sys.argv[2:])):
    resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))
del sys.argv[1:]
site.setquit()
exec(compile(source, "program.py", "exec"), {"__name__": "__main__"})
"""


class Job(NamedTuple):
    """One program with its cases, as (input, expected words)."""

    problem: str
    source: str
    cases: Sequence[tuple[bytes, list[str]]]


class Cost(NamedTuple):
    """What one way took: seconds by the clock and of the processor, and the verdicts."""

    wall: float
    cpu: float
    verdicts: Sequence[str]


def load(folder: Path, every: bool) -> list[Job]:
    """Read problems, tests and human Python solutions (the first of each problem, or every one)."""

    def read(name: str) -> Any:
        return json.loads(gzip.decompress((folder / f"{name}.json.gz").read_bytes()))

    tests = {problem["problem_id"]: problem for problem in read("test_cases_annotated")}
    solutions = read("human_solutions")
    jobs = []
    for problem in read("NeoCoder"):
        name = problem["problem_id"]
        sources = [text.replace("\r\n", "\n") for text in solutions[name]]
        sources = [text for text in sources if is_python(text)]
        for source in sources if every else sources[:1]:
            jobs.append(Job(name, source, list(cases(tests[name]))))
    return jobs


def is_python(text: str) -> bool:
    """Whether Python 3 reads it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def cases(problem: dict[str, Any]) -> Any:
    """The published cases one by one, each with the leading count that the solutions read."""
    for given, wanted in zip(problem["input"], problem["output"], strict=False):
        rows = [row if isinstance(row, str) else " ".join(row) for row in given]
        lines = wanted if isinstance(wanted, list) else [wanted]
        yield ("\n".join(["1", *rows]) + "\n").encode(), " ".join(lines).split()


def verdict(wanted: list[str], stdout: bytes, succeeded: bool) -> str:
    """Accepted, wrong or failed."""
    if not succeeded:
        return "failed"
    return "accepted" if stdout.decode("utf-8", "replace").split() == wanted else "wrong"


def measured(work: Callable[[], Sequence[str]]) -> Cost:
    """Run one way, and take its time with that of every process it started and ended."""

    def used() -> float:
        usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    clock, processor = time.perf_counter(), used()
    verdicts = work()
    return Cost(time.perf_counter() - clock, used() - processor, verdicts)


def in_sandbox(jobs: Sequence[Job]) -> list[str]:
    """The sandbox: opening it and closing it included."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    before = usage.ru_utime + usage.ru_stime
    with tempfile.TemporaryDirectory() as cache:
        box = BubblewrapSandbox(find_manner(), Path(cache), WORKERS)
        with ThreadPoolExecutor(WORKERS) as pool:
            asked = [(Program(job.source), [given for given, _ in job.cases], LIMITS) for job in jobs]
            found = list(pool.map(lambda one: box.run_now(*one), asked))
        box.close()
    own = sum(result.cpu_seconds for results in found for result in results)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if used.ru_utime + used.ru_stime - before < own:
        sys.exit("a launcher was killed before its processor time was counted; try again")
    return [
        verdict(wanted, result.stdout, result.succeeded)
        for job, results in zip(jobs, found, strict=True)
        for (_, wanted), result in zip(job.cases, results, strict=True)
    ]


def in_a_loop(jobs: Sequence[Job]) -> list[str]:
    """The plain way: bubblewrap and interpreter anew for each case."""
    words = ["bwrap", *isolation(mounts()), "--tmpfs", "/tmp", "--remount-ro", "/", "--chdir", "/tmp", "--"]
    words += ["/python/bin/python", *PYTHON_FLAGS, "-c", RUNNER]
    numbers = [int(LIMITS.cpu_seconds) + 1, LIMITS.memory_bytes, LIMITS.output_bytes, LIMITS.open_files, 0]
    limits = [str(number) for number in (*numbers, LIMITS.stack_bytes)]

    def one(job: Job) -> list[str]:
        found = []
        for given, wanted in job.cases:
            done = subprocess.run([*words, job.source, *limits], input=given, capture_output=True, check=False, env={})
            found.append(verdict(wanted, done.stdout, done.returncode == 0))
        return found

    with ThreadPoolExecutor(WORKERS) as pool:
        return [each for found in pool.map(one, jobs) for each in found]


def counted(verdicts: Sequence[str]) -> str:
    """The verdicts in words."""
    return ", ".join(f"{verdicts.count(name)} {name}" for name in sorted(set(verdicts)))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CREVAL_DATA", ".")) / "neocoder")
    parser.add_argument("--programs", type=int, help="only the first N programs")
    parser.add_argument("--pairs", type=int, default=3, help="how often both ways are run, in turn")
    parser.add_argument("--all", action="store_true", help="judge every human Python solution, in the sandbox alone")
    args = parser.parse_args()
    jobs = load(args.data, args.all)[: args.programs]
    total = sum(len(job.cases) for job in jobs)
    print(f"{find_manner()}")
    print(f"{len(jobs)} programs, {total:,} cases, {WORKERS} workers, interpreter flags: {' '.join(PYTHON_FLAGS)}")
    print(f"environment: {' '.join(f'{name}={value}' for name, value in ENVIRONMENT.items())}")
    if args.all:
        cost = measured(lambda: in_sandbox(jobs))
        print(f"all: {cost.wall:.1f} s, {1000 * cost.cpu / total:.2f} ms of processor a case; {counted(cost.verdicts)}")
        return
    ratios = []
    for pair in range(args.pairs):
        loop, ours = measured(lambda: in_a_loop(jobs)), measured(lambda: in_sandbox(jobs))
        different = [i for i in range(total) if loop.verdicts[i] != ours.verdicts[i]]
        if different:
            sys.exit(f"the verdicts differ in {len(different)} cases, first {different[:5]}")
        ratios.append(loop.cpu / ours.cpu)
        print(
            f"pair {pair + 1}: loop {1000 * loop.cpu / total:.2f} ms, sandbox {1000 * ours.cpu / total:.2f} ms of "
            f"processor a case, ratio {ratios[-1]:.2f}; by the clock {loop.wall:.1f} s and {ours.wall:.1f} s"
        )
    print(f"median ratio of processor time: {statistics.median(ratios):.2f}; {counted(ours.verdicts)} in both")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""creval and lm-eval and inspect: the same one-line prompts against the same mock server, in one run.

    python -m benchmarks.overhead.run --bench DIR      (from the repository's root)

DIR holds the mock server and the peers' tasks (mock_openai.py, make_data.py, peers_*). Harnesses that are not installed
are left out and named. They take turns, so that a busy spell of the machine hits all of them; the tables
show medians and creval's ratio to each peer.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measuring import Timing, mock_server, reset, stats, timed
from benchmarks.overhead.harnesses import HARNESSES, Job, accuracy, command, executable

EXPECTED_ACCURACY = 0.75  # every fourth target of the data is wrong on purpose


@dataclass
class Figures:
    """All timings of one harness: full runs by latency, and runs of one sample."""

    full: dict[float, list[Timing]] = field(default_factory=lambda: defaultdict(list))
    one: list[Timing] = field(default_factory=list)
    in_flight: dict[float, int] = field(default_factory=dict)


class Comparison:
    """Prepares the folder, runs the harnesses in turn, checks each run, prints the tables."""

    def __init__(self, args: argparse.Namespace, work: Path) -> None:
        self._args = args
        self._work = work
        self._programs = {name: found for name in args.harnesses.split(",") if (found := executable(name))}
        self._figures = {name: Figures() for name in self._programs}

    def prepare(self) -> None:
        bench, work = self._args.bench, self._work
        make = [sys.executable, str(bench / "make_data.py"), str(work / "data.jsonl"), "--count", str(self._args.count)]
        subprocess.run(make, check=True)
        (work / "tasks").mkdir()
        shutil.copy(bench / "peers_lm_eval_task.yaml", work / "tasks")
        shutil.copy(bench / "peers_inspect_task.py", work)

    def measure(self) -> None:
        with mock_server(self._args.bench, self._work, 0) as url:
            for name in self._programs:
                self._run(name, url, 1)  # not counted: data-set caches, page cache
            for _ in range(self._args.runs):
                for name in self._programs:
                    self._figures[name].one.append(self._run(name, url, 1))
        for latency in self._args.latencies:
            with mock_server(self._args.bench, self._work, latency) as url:
                for _ in range(self._args.runs):
                    for name in self._programs:
                        figures = self._figures[name]
                        figures.full[latency].append(self._run(name, url, self._args.count))
                        figures.in_flight[latency] = int(stats(url)["max_concurrent"])

    def _run(self, name: str, url: str, limit: int) -> Timing:
        out = self._work / "out"
        shutil.rmtree(out, ignore_errors=True)
        job = Job(url, self._args.bench, self._work, out, self._args.concurrency, limit, self._args.count)
        reset(url)
        timing = timed(command(name, self._programs[name], job), self._work, self._environment(url), self._log(name))
        asked = int(stats(url)["requests"])
        if asked != limit:
            raise SystemExit(f"{name} sent {asked} requests for {limit} samples; see {self._log(name)}")
        found = accuracy(name, out)
        if limit == self._args.count and found not in (None, EXPECTED_ACCURACY):
            raise SystemExit(f"{name} found an accuracy of {found}, not {EXPECTED_ACCURACY}")
        print(f"  {name} {limit}: {timing.wall:.2f} s, {timing.cpu:.2f} s of processor time", file=sys.stderr)
        return timing

    def _log(self, name: str) -> Path:
        return self._work / f"{name}.log"

    def _environment(self, url: str) -> dict[str, str]:
        """No network, no telemetry; the key is a dummy."""
        quiet = dict.fromkeys(
            ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK"), "1"
        )
        own = {"HF_HOME": str(self._work / "hf"), "BENCH_DATA": str(self._work / "data.jsonl")}
        return {**quiet, **own, "OPENAI_API_KEY": "mock", "OPENAI_BASE_URL": url, "INSPECT_LOG_LEVEL": "warning"}

    def tables(self) -> str:
        lines = [
            f"{self._args.count} samples, concurrency {self._args.concurrency}, medians of {self._args.runs} runs",
            "",
        ]
        lines += ["| harness | latency ms | wall s | CPU s | peak MB | CPU ms a sample | in flight | spread of wall |"]
        lines += ["|---|---|---|---|---|---|---|---|"]
        for latency in self._args.latencies:
            lines += [self._row(name, latency) for name in self._programs]
        lines += ["", "| one sample (start-up) | wall s | CPU s | peak MB |", "|---|---|---|---|"]
        for name, figures in self._figures.items():
            one = figures.one
            lines.append(f"| {name} | {_wall(one):.2f} | {_cpu(one):.2f} | {_peak(one):.0f} |")
        return "\n".join([*lines, "", *self._ratios()])

    def _row(self, name: str, latency: float) -> str:
        figures = self._figures[name]
        runs = figures.full[latency]
        walls = sorted(run.wall for run in runs)
        return (
            f"| {name} | {latency:g} | {_wall(runs):.2f} | {_cpu(runs):.2f} | {_peak(runs):.0f} | "
            f"{self._a_sample(name, latency):.2f} | {figures.in_flight[latency]} | {walls[0]:.2f}-{walls[-1]:.2f} |"
        )

    def _a_sample(self, name: str, latency: float) -> float:
        """Processor milliseconds per sample, start-up taken off."""
        figures = self._figures[name]
        return 1000 * (_cpu(figures.full[latency]) - _cpu(figures.one)) / (self._args.count - 1)

    def _ratios(self) -> list[str]:
        if "creval" not in self._figures:
            return []
        lines = []
        own = self._figures["creval"]
        for latency in self._args.latencies:
            for name in self._programs:
                if name != "creval":
                    wall = _wall(own.full[latency]) / _wall(self._figures[name].full[latency])
                    each = self._a_sample("creval", latency) / self._a_sample(name, latency)
                    lines.append(f"creval / {name} at {latency:g} ms: wall x{wall:.3f}, CPU a sample x{each:.3f}")
            if latency:
                ideal = self._args.count / self._args.concurrency * latency / 1000
                # The quickest runs: a busy spell in one of the two would be taken for the harness's own time.
                excess = min(run.wall for run in own.full[latency]) - min(run.wall for run in own.one)
                share = f"{excess:.2f} s; ideal {ideal:.2f} s (x{excess / ideal:.2f})"
                lines.append(f"creval at {latency:g} ms, less start-up: {share}")
        return lines


def _wall(runs: Sequence[Timing]) -> float:
    return statistics.median(run.wall for run in runs)


def _cpu(runs: Sequence[Timing]) -> float:
    return statistics.median(run.cpu for run in runs)


def _peak(runs: Sequence[Timing]) -> float:
    return statistics.median(run.peak_mb for run in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--bench", type=Path, required=True, help="the folder of the mock server and the peers' tasks")
    parser.add_argument("--harnesses", default=",".join(HARNESSES))
    parser.add_argument("--count", type=int, default=2000, help="samples; divisible by 4")
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--latencies", type=float, nargs="*", default=[0.0, 50.0], help="milliseconds")
    args = parser.parse_args()
    args.bench = args.bench.resolve()
    if args.count % 4 or args.count < 4:
        parser.error("--count must be divisible by 4")
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(args, Path(folder))
        for name in args.harnesses.split(","):
            if not executable(name):
                print(f"left out, not installed: {name}", file=sys.stderr)
        comparison.prepare()
        comparison.measure()
        print(comparison.tables())


if __name__ == "__main__":
    main()

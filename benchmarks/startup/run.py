#!/usr/bin/env python3
"""How long commands take that do no work: creval and lm-eval (and inspect), in one run.

    python -m benchmarks.startup.run      (from the repository's root)

Programs that are not installed are left out and named. Commands take turns; the table shows medians, and creval's ratio
to the peer's command of the same kind.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import Timing, timed
from benchmarks.overhead.harnesses import executable

# Kind of command -> (harness, arguments).
COMMANDS = {
    "help": [("creval", ["--help"]), ("lm-eval", ["--help"]), ("inspect", ["--help"])],
    "list of tasks": [("creval", ["ls"]), ("lm-eval", ["ls", "tasks"]), ("inspect", ["list", "tasks"])],
}
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": ""}
"""No network; bytecode may be kept, as everywhere but in some containers."""
HEAVY = ("litellm", "datasets", "torch", "transformers", "pandas", "jsonschema", "onnxruntime", "numpy", "aiohttp")


def measure(runs: int, peers_runs: int) -> dict[tuple[str, str], list[Timing]]:
    """Time every command; a peer's listing takes long, so that peers may run less often."""
    found: dict[tuple[str, str], list[Timing]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(max(runs, peers_runs) + 1):
            for kind, commands in COMMANDS.items():
                for name, arguments in commands:
                    program = executable(name)
                    if program is None or turn > (runs if name == "creval" else peers_runs):
                        continue
                    timing = timed([program, *arguments], Path(folder), ENVIRONMENT, Path(folder) / "log")
                    if turn:  # the first turn warms the page cache
                        found.setdefault((kind, name), []).append(timing)
    return found


def imported_by(arguments: list[str]) -> list[str]:
    """Which heavy modules a creval command imports; none, it is hoped."""
    program = executable("creval")
    assert program is not None
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        timed([sys.executable, "-X", "importtime", program, *arguments], Path(folder), {}, log)
        names = {line.rsplit("|", 1)[-1].strip() for line in log.read_text().splitlines() if "import time:" in line}
    return [name for name in HEAVY if name in names]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--peers-runs", type=int, default=3)
    args = parser.parse_args()
    for name in ("lm-eval", "inspect"):
        if executable(name) is None:
            print(f"left out, not installed: {name}", file=sys.stderr)
    found = measure(args.runs, args.peers_runs)
    print("| command | runs | wall s | spread | CPU s | peak MB | creval / this |\n|---|---|---|---|---|---|---|")
    for (kind, name), runs in found.items():
        walls = sorted(run.wall for run in runs)
        wall = statistics.median(walls)
        own = statistics.median(run.wall for run in found[kind, "creval"])
        cpu, peak = statistics.median(run.cpu for run in runs), statistics.median(run.peak_mb for run in runs)
        spread = f"{walls[0]:.2f}-{walls[-1]:.2f}"
        print(f"| {name}: {kind} | {len(runs)} | {wall:.3f} | {spread} | {cpu:.3f} | {peak:.0f} | x{own / wall:.3f} |")
    for arguments in (["--help"], ["ls"]):
        print(f"\n`creval {' '.join(arguments)}` imports of {', '.join(HEAVY)}: {imported_by(arguments) or 'none'}")


if __name__ == "__main__":
    main()

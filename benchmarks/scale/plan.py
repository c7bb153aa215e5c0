#!/usr/bin/env python3
"""What 1,000 models on 30 tasks would take, computed from unit costs that are stated here with their source.

    python -m benchmarks.scale.plan [--models 1000] [--machines 10] [--cores 16] [--in-flight 1000]

It measures nothing: the costs of a sample are constants, each with where it comes from. docs/scale.md shows the table.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

COMMAND = 0.0004  # processor s a sample, the local loop: benchmarks/scale/executors.py, plain, local
COMMAND_WITH_WORKERS = 0.0017  # ... of the command where workers make the samples: the same, plain, ray
WORKER = 0.0004  # ... of the workers next to the work itself: the same
LINES = 670  # bytes per sample in samples/ and scores/ next to its texts: a run of one-word answers, 200 samples
TOKEN = 4  # bytes a token of English prose: an assumption
SECONDS_A_CALL = 10.0  # of a hosted model: an assumption
INPUT, OUTPUT = 0.25, 2.00  # US dollars a million tokens: gpt-5-mini in the price table
JUDGE_INPUT, JUDGE_OUTPUT = 0.25, 2.00  # the same model as judge


class Kind(NamedTuple):
    """Tasks of one kind: how many, samples per task; tokens, judge calls, processor s of scoring, calls of a sample."""

    tasks: int
    samples: int
    asked: int
    answered: int
    judged: float = 0.0
    work: float = 0.0
    calls: int = 1


KINDS = {
    "answers that are read (numbers, choices, lists)": Kind(12, 1000, 300, 300),
    "games and chains of several turns": Kind(4, 500, 6000, 1500, calls=10),
    "word lists, by an encoder": Kind(6, 600, 150, 100, work=0.023),
    "programs, in the sandbox": Kind(4, 1200, 600, 900, judged=1.0, work=0.06),
    "texts, by a judge": Kind(4, 500, 400, 800, judged=2.0),
}
"""Samples and tokens are assumptions about the tasks of this registry. Work is measured by executors.py next to this
file, local: 14.0 s for 600 word lists, 5.4 s for 90 programs, the run around them included."""
JUDGE_ASKED, JUDGE_ANSWERED = 900, 150  # tokens per judge call: an assumption


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--machines", type=int, default=10)
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--in-flight", type=int, default=1000, help="calls at once, over all providers")
    args = parser.parse_args()
    for name, value in rows(args.models, args.machines * args.cores, args.in_flight):
        print(f"| {name} | {value} |")


def rows(models: int, cores: int, in_flight: int) -> list[tuple[str, str]]:
    """Return the table as (what, how much)."""
    per_model = [(kind, kind.tasks * kind.samples) for kind in KINDS.values()]
    samples = models * sum(count for _, count in per_model)
    asked = models * sum(kind.asked * count for kind, count in per_model)
    answered = models * sum(kind.answered * count for kind, count in per_model)
    requests = models * sum(kind.calls * count for kind, count in per_model)
    judged = models * sum(kind.judged * count for kind, count in per_model)
    work = models * sum(kind.work * count for kind, count in per_model)
    size = samples * LINES + TOKEN * (asked + answered + judged * (JUDGE_ASKED + JUDGE_ANSWERED))
    price = (asked * INPUT + answered * OUTPUT) / 1e6
    judge_price = judged * (JUDGE_ASKED * JUDGE_INPUT + JUDGE_ANSWERED * JUDGE_OUTPUT) / 1e6
    calls = (requests + judged) * SECONDS_A_CALL / in_flight / 3600
    return [
        ("samples; requests to the targets", f"{samples / 1e6:.1f}; {requests / 1e6:.1f} million"),
        ("tokens asked, answered", f"{asked / 1e9:.1f}, {answered / 1e9:.1f} billion"),
        ("judge calls", f"{judged / 1e6:.1f} million"),
        ("storage", f"{size / 1e9:.0f} GB"),
        ("price of the targets, at a small model's price", f"${price:,.0f}"),
        ("price of the judge", f"${judge_price:,.0f}"),
        (f"hours of calls, {in_flight} in flight", f"{calls:.0f}"),
        ("processor hours of scoring", f"{work / 3600:.0f}"),
        ("processor hours of the commands, local loop", f"{samples * COMMAND / 3600:.1f}"),
        ("processor hours of commands and workers, by Ray", f"{samples * (COMMAND_WITH_WORKERS + WORKER) / 3600:.1f}"),
        (f"hours of scoring on {cores} cores", f"{work / 3600 / cores:.1f}"),
    ]


if __name__ == "__main__":
    main()

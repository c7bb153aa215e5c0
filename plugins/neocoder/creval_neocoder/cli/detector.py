"""`creval neocoder detector`: does an augmenter find the techniques that the published lists name?"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import click

from creval.plugin import SampleKey, ScoringError
from creval.plugin.data import DataOptions
from creval.plugin.report import print_table
from creval_analyses.options import command_options, open_workbench, part_options
from creval_neocoder.published.published_problems import read_problems
from creval_neocoder.task.source import published_files
from creval_neocoder.task.techniques import AUGMENTER, detect
from creval_neocoder.techniques.agreement import agreement
from creval_neocoder.techniques.syntax import SEEN, techniques_of
from creval_neocoder.techniques.vocabulary import VOCABULARY

__all__ = ["detector"]

_TASK = "neocoder/neocoder_state0"
Chosen = Sequence[tuple[str, str, tuple[str, ...]]]


@click.command(epilog="Example: creval neocoder detector --role augmenter=openai/gpt-4.1 --sample 100")
@click.option("--sample", type=click.IntRange(min=1), default=100, show_default=True, help="Number of human solutions.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed of the solutions.")
@click.option("--syntax", is_flag=True, help="Evaluate the syntax detector (only Python), which calls no model.")
@command_options(part_options(roles=True))
def detector(sample: int, seed: int, syntax: bool, **given: Any) -> None:
    """Compare a detector with the technique lists that the authors ship: precision and recall of each technique.

    An augmenter that names more techniques than these lists do raises divergent creativity and NeoGauge.
    """
    options = DataOptions.from_environment(offline=bool(given["offline"]))
    solutions = [
        (f"{problem.name}-{number}", source, names)
        for problem in read_problems(published_files(options))
        for number, (source, names) in enumerate(zip(problem.solutions, problem.techniques, strict=False))
    ]
    if syntax:
        solutions = [each for each in solutions if techniques_of(each[1])]
    chosen = random.Random(seed).sample(solutions, min(sample, len(solutions)))
    known = SEEN if syntax else frozenset(VOCABULARY)
    found = [techniques_of(source) for _, source, _ in chosen] if syntax else _detect_all(chosen, given)
    pairs = [
        (set(mine), set(names) & known) for mine, (*_, names) in zip(found, chosen, strict=True) if mine is not None
    ]
    rows = [
        (each.technique, each.reference, each.detected, each.both, each.precision, each.recall)
        for each in agreement([mine for mine, _ in pairs], [theirs for _, theirs in pairs])
    ]
    name = "the syntax detector" if syntax else "the augmenter"
    columns = ("technique", "in the lists", "found", "both", "precision", "recall")
    print_table(f"Techniques of {len(pairs)} human solutions, by {name}", columns, rows)
    if len(pairs) < len(chosen):
        click.echo(f"{len(chosen) - len(pairs)} lists of the augmenter could not be read and are left out", err=True)


def _detect_all(chosen: Chosen, given: dict[str, Any]) -> list[tuple[str, ...] | None]:
    """Return the augmenter's techniques for each program; None if its lists are unreadable."""
    bench = open_workbench(given, addressed=AUGMENTER)
    context = bench.context(_TASK)

    async def one(name: str, source: str) -> tuple[str, ...] | None:
        try:
            return (await detect(source, SampleKey("neocoder_detector", name, "default", 0), {}, context)).names
        except ScoringError:
            return None

    async def all_of_them() -> list[tuple[str, ...] | None]:
        return list(await asyncio.gather(*(one(name, source) for name, source, _ in chosen)))

    return bench.work(all_of_them)

"""`creval neocoder build`: states for any problems by Denial Prompting."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from creval.plugin import counted
from creval_analyses.options import command_options, open_workbench, part_options

__all__ = ["build_states"]


@click.command(
    "build",
    short_help="Build states for your own problems: forbid one technique after another.",
    epilog="Example: creval neocoder build --problems mine.jsonl --model openai/gpt-4.1 --seed 1 -o built.json",
)
@click.option(
    "--problems", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True,
    help="Problems with their tests, JSON or JSON Lines; see docs/neocoder-building.md.",
)  # fmt: skip
@click.option("--model", metavar="M", required=True, help="Model that solves the problems, as provider/name.")
@click.option("--augmenter", metavar="M", default=None, help="Model that names techniques (default: the same).")
@click.option("--rounds", type=click.IntRange(1, 20), default=5, show_default=True, help="Rounds per problem.")
@click.option("--seed", type=click.IntRange(min=0), required=True, help="Random seed of draws and local models.")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), required=True, help="JSON.")
@command_options(part_options(models=True))
def build_states(
    problems: Path, model: str, augmenter: str | None, rounds: int, seed: int, output: Path, **given: Any
) -> None:
    """Run Algorithm 1: solve, detect the techniques of the program, forbid one of them, solve again in the same thread.

    The output has the form of the published NeoCoder.json, with the tests; a task file for it is written next to it.
    Every call is stored in OUTPUT.calls.jsonl as soon as it ends: the same command continues where it
    stopped, and pays for no call twice.
    """
    from creval.plugin.report import write_json, write_text
    from creval_neocoder.building.asking import SOLVER
    from creval_neocoder.building.build import Plan, build
    from creval_neocoder.building.journal import CallJournal
    from creval_neocoder.published.built import read_problem_file
    from creval_neocoder.task.techniques import AUGMENTER

    plan = Plan(read_problem_file(problems), rounds, seed)
    roles = {SOLVER: model, AUGMENTER: augmenter or model}
    bench = open_workbench({**given, "role": roles}, addressed=SOLVER, seed=seed)
    journal = CallJournal(output.with_name(f"{output.name}.calls.jsonl"), plan.describe(bench))
    ended: list[str] = []

    def done(name: str) -> None:
        ended.append(name)
        click.echo(f"{len(ended)} of {len(plan.problems)} problems: {name}", err=True)

    try:
        rows = bench.work(lambda: build(plan, bench, journal, done))
    finally:
        journal.close()
    write_json(output, rows)
    task = output.with_suffix(".yaml")
    write_text(task, task_file(output, max(map(states, rows))))
    counts = Counter(state for row in rows for state in range(states(row) + 1))
    click.echo(
        f"{output}: " + ", ".join(f"{counted(counts[state], 'problems')} in state {state}" for state in sorted(counts))
    )
    for row in rows:
        if row["ended"]:
            click.echo(f"{row['problem_id']} ended early: {row['ended']}", err=True)
    paid = ", ".join(f"{count} of the {'solver' if role == SOLVER else role}" for role, count in journal.calls.items())
    click.echo(f"calls: {paid}" + (f", {journal.cost:.2f} US dollars" if journal.cost else ""))
    click.echo(f"Play it: creval --tasks '{task}:*' --model MODEL --allow-code-execution")


def states(row: Mapping[str, Any]) -> int:
    """Return the last state of a built row: the largest number of constraints."""
    lists: Sequence[Sequence[str]] = row["constraints_list"]
    return max((len(names) for names in lists[1:]), default=0)


def task_file(output: Path, last: int) -> str:
    """Return a task file whose variants are the states of a built file."""
    name = re.sub(r"[^a-z0-9_]+", "_", output.stem.lower()).strip("_") or "built"
    variants = "".join(
        f'  state{state}: {{title: "NeoCoder on {output.name}, {state} techniques forbidden", '
        f"dataset: {{state: {state}}}, tests: null}}\n"
        for state in range(last + 1)
    )
    return (
        f"# The states of {output.name}, built by creval neocoder build.\n"
        f"schema: 1\ntask: neocoder_{name}\nversion: 1.0.0\ntitle: NeoCoder on {output.name}\n"
        f"include: neocoder/neocoder_state0\ndataset: {{source: neocoder_built, file: {output.name!r}}}\n"
        f"variants:\n{variants}"
    )

"""`creval openended discussion RUN`: the jury's discussions as text to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from creval.plugin import RunError, ScoreRecord, open_run
from creval.plugin.commands import RunPath

__all__ = ["discussion", "discussion_lines"]


@click.command(epilog="Example: creval openended discussion runs/jury --doc own-01 --criterion safety")
@click.argument("run", type=RunPath(exists=True, file_okay=False))
@click.option("--task", metavar="TASK", help="Only this task.")
@click.option("--doc", metavar="ID", help="Only this problem.")
@click.option("--criterion", metavar="NAME", help="Only this criterion.")
def discussion(run: Path, task: str | None, doc: str | None, criterion: str | None) -> None:
    """Print the discussion of the jury of RUN as Markdown: turns with the fragments that each analyst saw,
    confidences, open questions, and the verdict."""
    lines = [
        line
        for sample, score in open_run(run).scored(task)
        if doc in (None, sample.key.doc)
        for line in discussion_lines(score, criterion)
    ]
    if not lines:
        raise RunError(
            "contains no such discussion", where=str(run), fix="Name a run of a jury task, and one of its docs."
        )
    click.echo("\n".join(lines))


def discussion_lines(score: ScoreRecord, criterion: str | None = None) -> Iterator[str]:
    """Yield the discussions about a solution as lines of Markdown."""
    jury = score.details.get("jury", {})
    if jury.get("method") != "jury":
        return
    head = score.key.doc if score.key.repeat == 0 else f"{score.key.doc}, repeat {score.key.repeat}"
    for name in jury["asked"]:
        if criterion not in (None, name):
            continue
        yield f"# {head}: {name}"
        verdict = jury["criteria"].get(name)
        if verdict is None:
            yield f"\nNo verdict: {score.missing[name].reason}\n"
            continue
        word = "fulfilled" if verdict["fulfilled"] else "not fulfilled"
        yield f"\n**{word}**, decided by the {verdict['decider']} analyst after round {verdict['rounds']}; "
        yield f"mean confidence {verdict['confidence']:.2f}.\n"
        for turn in (*jury["start"], *verdict["turns"]):
            yield from _turn(turn)
        yield from _ending(verdict)


def _turn(turn: Mapping[str, Any]) -> Iterator[str]:
    kind = next((each for each in ("verdict", "confidence") if each in turn), "turn" if turn["round"] else "beginning")
    seen = ", ".join(map(str, turn["seen"]))
    yield f"## Round {turn['round']}, {turn['by']} analyst, {kind}" + (f" (saw fragments {seen})" if seen else "")
    for asked in turn.get("asked", ()):
        yield f"\n> {asked['from']} analyst asks: {asked['text']}"
    yield f"\n{turn['text']}\n"


def _ending(verdict: Mapping[str, Any]) -> Iterator[str]:
    yield "## Fragments\n"
    for each in verdict["fragments"]:
        yield f"{each['number']}. ({each['by']} analyst, round {each['round']}) {each['text']}"
    for each in verdict["open_questions"]:
        yield f"\nLeft open, {each['from']} to {each['to']} analyst: {each['text']}"
    for stage in verdict["stages"]:
        turned = [who for who, stance in stage["stances"].items() if stance not in (None, verdict["fulfilled"])]
        if turned:
            yield f"\nAfter round {stage['round']} of another mind than the verdict: {', '.join(turned)} analyst."
    yield ""

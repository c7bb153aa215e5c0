"""The games that models and people played, read from run folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from creval.plugin import Run, RunError, Sample, ScoreRecord, Status, open_runs
from creval_kumo.analysis.difficulty import difficulty
from creval_kumo.games.reliability import need_certain

__all__ = ["Play", "is_game", "plays_of", "read_plays"]

_GAME = frozenset({"domain", "truths", "actions", "valid_truths", "observations", "outcomes"})
_OTHER_GAMES = "the paper's analyses, which are of games that do, cannot be made of it"
_UNREAD = frozenset({Status.UNPARSED, Status.TRUNCATED, Status.REFUSED})


@dataclass(frozen=True, slots=True)
class Play:
    """One try at one game.

    `game` tells games apart across runs (task and doc). `success`: the valid truth was named. `tests`: actions taken.
    `tokens`: input and output of all calls of the target. `unread`: the answer could not be read, was cut at the token
    limit or refused; the released code calls all three a parse error. `seconds` are those of each answer.
    """

    model: str
    game: str
    domain: str
    difficulty: str
    success: bool
    tests: int
    tokens: int
    unread: bool
    doc: Mapping[str, Any] = field(default_factory=dict, compare=False)
    seconds: tuple[float, ...] = ()


def is_game(doc: Mapping[str, Any]) -> bool:
    """Whether a doc is a game of KUMO."""
    return doc.keys() >= _GAME


def read_plays(runs: Sequence[str]) -> Iterator[Play]:
    """Yield every game played in the runs; errored and skipped samples were not played and are left out.

    The paper's analyses are of games with certain results, and a mixture would say nothing of either: others (see
    `creval_kumo.games.belief`) are left out, as docs of other tasks are. Raises UsageError without a run, or where a
    run holds such games alone. RunError where a run is not whole or named twice, or holds no game.
    """
    for run in open_runs(runs):
        yield from plays_of(run)


def plays_of(run: Run) -> Iterator[Play]:
    """Yield the games of one run; see `read_plays`."""
    found, reliability = False, 1
    for sample, score in run.scored():
        if "success_rate" in score.scores and is_game(sample.doc):
            reliability = sample.doc.get("reliability", 1)
            if reliability == 1:
                found = True
                yield _play(sample, score, run.model)
    if not found:
        need_certain(reliability, str(run.folder), _OTHER_GAMES)
        raise RunError(
            "the run holds no game of KUMO that was played to an end",
            where=str(run.folder),
            cure=f"Name runs of KUMO tasks. Games that ended as errored are tried again by: {run.resume_command}",
        )


def _play(sample: Sample, score: ScoreRecord, model: str) -> Play:
    replies = [call.reply for call in sample.calls if call.role == "target" and call.reply is not None]
    usage = [reply["usage"] for reply in replies]
    return Play(
        model=model,
        game=f"{sample.key.task}\x1f{sample.key.doc}\x1f{sample.key.condition}",
        domain=str(sample.doc["domain"]),
        difficulty=difficulty(len(sample.doc["truths"]), len(sample.doc["actions"])),
        success=score.scores["success_rate"] == 1.0,
        tests=int(score.scores["tests"]),
        tokens=sum(int(use["input_tokens"]) + int(use["output_tokens"]) for use in usage),
        unread=sample.status in _UNREAD,
        doc=sample.doc,
        seconds=tuple(float(reply["latency"]) for reply in replies),
    )

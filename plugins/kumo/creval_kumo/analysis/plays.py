"""The games that models and people played, read from run folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from creval.plugin import Run, RunError, Sample, ScoreRecord, UsageError, open_runs
from creval_kumo.analysis.difficulty import difficulty
from creval_kumo.games.reliability import need_certain

__all__ = ["Play", "is_game", "plays_of", "read_plays"]

_GAME = frozenset({"domain", "truths", "actions", "valid_truths", "observations", "outcomes"})
_SEPARATOR = "\x1f"
_OTHER_GAMES = "the paper's analyses, which are of games that do, cannot be made of it"


@dataclass(frozen=True, slots=True)
class Play:
    """One try at one game.

    `game` distinguishes games across runs (task and doc). `success`: the valid truth was named. `tests`: actions taken.
    `tokens`: input and output of all calls of the target. `unread`: the answer could not be parsed, was cut at the
    token limit or refused; the released code calls all three a parse error. `seconds`: the time of each answer.
    `relative_count`: Eq. 4, or None if it is undefined for the game.
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
    relative_count: float | None = None


def is_game(doc: Mapping[str, Any]) -> bool:
    """Return whether a doc is a game of KUMO."""
    return doc.keys() >= _GAME


def read_plays(runs: Sequence[str], task: str | None = None) -> Iterator[Play]:
    """Yield every game played in the runs, without errored and skipped samples.

    The paper analyses games with certain results. Games with uncertain results (see `creval_kumo.games.belief`) and
    docs of other tasks are left out. Raises UsageError if there is no run, or if a run contains only games with
    uncertain results. Raises RunError if a run is incomplete, is named twice, or contains no game.

    With `task`, yields only the games of that task. Raises UsageError if games of the same model and difficulty, but of
    different tasks, would be counted together (tasks that differ only in the domain count as the same).
    """
    kinds: dict[tuple[str, str], tuple[str, str]] = {}
    for run in open_runs(runs):
        for play in plays_of(run, task):
            name = play.game.partition(_SEPARATOR)[0]
            kind = name.removesuffix(f"_{play.domain}")
            known, other = kinds.setdefault((play.model, play.difficulty), (kind, name))
            if kind != known:
                raise UsageError(
                    f"{play.difficulty} games of {other} and of {name} would be counted together",
                    where=f"{run.folder}, {play.model}",
                    fix=f"Name runs of one of them; kumo-errors and -structure take --task {other}.",
                )
            yield play


def plays_of(run: Run, task: str | None = None) -> Iterator[Play]:
    """Yield the games of one run; see `read_plays`."""
    found, reliability = False, 1
    for sample, score in run.scored(task):
        if "success_rate" in score.scores and is_game(sample.doc):
            reliability = sample.doc.get("reliability", 1)
            if reliability == 1:
                found = True
                yield _play(sample, score, run.model)
    if not found:
        need_certain(reliability, str(run.folder), _OTHER_GAMES)
        raise RunError(
            "the run contains no finished game of KUMO",
            where=str(run.folder),
            fix=f"Name runs of KUMO tasks. To retry games that ended as errored: {run.resume_command}",
        )


def _difficulty(doc: Mapping[str, Any]) -> str:
    """Return the difficulty of a game, with any settings in which it differs from the paper's games."""
    words = [difficulty(len(doc["truths"]), len(doc["actions"]))]
    if len(doc["valid_truths"]) > 1:
        words.append(f"{len(doc['valid_truths'])} valid")
    if str(doc["domain"]).endswith("_counterfactual"):
        words.append("counterfactual")
    return ", ".join(words)


def _play(sample: Sample, score: ScoreRecord, model: str) -> Play:
    replies = [reply for call in sample.calls if call.role == "target" and (reply := call.reply) is not None]
    return Play(
        model=model,
        game=_SEPARATOR.join((sample.key.task, sample.key.doc, sample.key.condition)),
        domain=str(sample.doc["domain"]),
        difficulty=_difficulty(sample.doc),
        success=score.scores["success_rate"] == 1.0,
        tests=int(score.scores["tests"]),
        tokens=sum(reply.usage.input_tokens + reply.usage.output_tokens for reply in replies),
        unread=sample.status.is_failure,
        doc=sample.doc,
        seconds=tuple(reply.latency for reply in replies),
        relative_count=score.scores.get("relative_action_count"),
    )

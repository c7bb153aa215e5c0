"""`creval analyse writing-ranking`: models and the pool on one scale, with intervals by the bootstrap over prompts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from creval.plugin import AnalysisOutput, DataError, FieldSpec, Run, UsageError, open_runs
from creval_writing.bradley_terry import strengths_of

__all__ = ["Ranking"]

_WINS = "wins_"
_COLUMNS = ("writer", "of", "prompts", "meetings", "won", "strength", "low", "high")
Meetings = dict[tuple[str, str], dict[str, list[float]]]
"""By model and writer of the pool, then by prompt: the shares of pairs that the model won."""


class Ranking:
    """A row for each model and writer of the pool, the strongest first; the pool's mean strength is 0.

    Models meet the pool, not each other: runs are comparable because the pool and the judge are the same.
    """

    example = "runs/one runs/other"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options in addition to the runs."""
        return (
            FieldSpec("task", "string", None, "The task, where the runs have several with pairs."),
            FieldSpec("resamples", "integer", 1_000, "Resamples of the prompts.", minimum=1),
            FieldSpec("seed", "integer", 0, "Seed of the resamples.", minimum=0),
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Fit the strengths. Raises UsageError if the judges differ, DataError if there are no pairs."""
        resamples = int(options.get("resamples") or 1_000)
        if resamples < 1:
            raise UsageError("the number of resamples is from 1", where="--resamples")
        opened = open_runs(runs)
        met = _meetings(opened, options.get("task"))
        draws = _draws(met, resamples, int(options.get("seed") or 0))
        value = _fitted(met, None)
        drawn: dict[str, list[float]] = defaultdict(list)
        for weights in draws:
            for name, found in _fitted(met, weights).items():
                drawn[name].append(found)
        rows = [self._row(name, met, value[name], drawn[name]) for name in sorted(value, key=lambda name: -value[name])]
        notes = (
            "strength: log-odds by the Bradley-Terry model, the mean of the pool being 0; a tie is half a win.",
            f"low, high: 2.5 and 97.5 % over {resamples} resamples of the prompts.",
        )
        return AnalysisOutput("Writers by what the judge prefers", _COLUMNS, rows, notes)

    def _row(self, name: str, met: Meetings, value: float, drawn: Sequence[float]) -> Sequence[Any]:
        low, high = np.quantile(drawn, [0.025, 0.975])
        shares: list[float] = []
        prompts: set[str] = set()
        for (model, writer), by_prompt in met.items():
            own = [share if name == model else 1 - share for each in by_prompt.values() for share in each]
            if name in (model, writer):
                shares += own
                prompts |= by_prompt.keys()
        of = "model" if any(name == model for model, _ in met) else "pool"
        return (name, of, len(prompts), len(shares), sum(shares) / len(shares), value, float(low), float(high))


def _meetings(runs: Sequence[Run], task: str | None) -> Meetings:
    """Read the pairs of all runs. Raises UsageError, DataError."""
    met: Meetings = {}
    judges = set()
    models = [run.model for run in runs]
    for number, run in enumerate(runs):
        model = run.model if models.count(run.model) == 1 else f"{run.model} ({models[: number + 1].count(run.model)})"
        for name in run.tasks:
            if task not in (None, name):
                continue
            for record in run.scores(name):
                for score, share in record.scores.items():
                    if score.startswith(_WINS) and not score.endswith("_agrees"):
                        judges.add((name, str(run.result(name)["instruments"].get("judge"))))
                        pool = met.setdefault((model, f"pool: {score.removeprefix(_WINS)}"), {})
                        pool.setdefault(record.key.doc, []).append(share)
    if not met:
        raise DataError("the runs have no pairs", fix="Name runs of vignettes or vignettes_pairs that were judged.")
    if len({name for name, _ in judges}) > 1:
        tasks = ", ".join(sorted({name for name, _ in judges}))
        raise UsageError(f"the runs have pairs in several tasks: {tasks}", fix="Name one with --task.")
    if len(judges) > 1:
        said = ", ".join(sorted(judge for _, judge in judges))
        raise UsageError(f"the runs were judged by different models: {said}", fix="Score them again with one --role.")
    return met


def _draws(met: Meetings, resamples: int, seed: int) -> list[Mapping[str, int]]:
    """Return how often each resample has each prompt."""
    prompts = sorted({prompt for by_prompt in met.values() for prompt in by_prompt})
    random = np.random.default_rng(seed)
    counts = random.multinomial(len(prompts), np.full(len(prompts), 1 / len(prompts)), size=resamples)
    return [dict(zip(prompts, map(int, row), strict=True)) for row in counts]


def _fitted(met: Meetings, weights: Mapping[str, int] | None) -> dict[str, float]:
    """Return the strengths over the prompts, each with its weight (None: 1)."""
    sums: dict[tuple[str, str], tuple[float, float]] = {}
    for pair, by_prompt in met.items():
        won = lost = 0.0
        for prompt, shares in by_prompt.items():
            weight = 1 if weights is None else weights[prompt]
            won += weight * sum(shares)
            lost += weight * (len(shares) - sum(shares))
        sums[pair] = (won, lost)
    found = strengths_of(sums)
    middle = float(np.mean([found[writer] for writer in {writer for _, writer in met}]))
    return {name: value - middle for name, value in found.items()}

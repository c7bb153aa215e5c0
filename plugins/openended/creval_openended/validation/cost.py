"""`creval analyse jury-cost`: tokens of judges per solution and verdict, by phase, and the saving (Table 15)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec, Run, RunError, open_runs
from creval_openended.analyses.output import OPTIONS, finished

__all__ = ["JuryCost", "Spending", "saving"]

COLUMNS = (
    "judge",
    "solutions",
    "phase",
    "calls",
    "input",
    "input_sd",
    "output",
    "output_sd",
    "input_a_verdict",
    "saving",
)
_WHOLE = "all"
_ROUND = "round "
_VERDICT = "verdict after round "
_NOTES = (
    "Mean tokens a solution (a_verdict: divided by its criteria). saving: 1 - tokens of the first run's judge over "
    "those of this one, input and output. ChatEval's rounds are a choice (the paper's 63 % fits two); a run of it with "
    "curve shows what each number of rounds would have cost.",
    "Answers that were given again count as what they took when they were paid.",
)


class Spending:
    """The cost of a judge: by phase a list of (calls, input, output), one for each solution."""

    def __init__(self, judge: str, criteria: int, phases: Mapping[str, Sequence[tuple[int, int, int]]]) -> None:
        self.judge, self.criteria, self.phases = judge, criteria, phases

    @property
    def tokens(self) -> float:
        """Return the mean of input and output tokens per solution."""
        return fmean(used[1] + used[2] for used in self.phases[_WHOLE])


class JuryCost:
    """Tokens by judge and phase; the saving is that of the first run."""

    example = "runs/jury runs/jury_chateval"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options."""
        return OPTIONS

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Sum the runs."""
        spent = [each for run in open_runs(runs) for each in _of_run(run, options.get("task"))]
        if not spent:
            raise RunError("no judge of solutions was called", where=", ".join(runs), fix="Name runs of jury tasks.")
        rows = [row for each in spent for row in _rows(each, spent[0])]
        return finished("jury-cost", "What judging takes", (COLUMNS, rows), _NOTES, options)


def saving(ours: float, theirs: float) -> float | None:
    """Return 1 - ours / theirs; None if the other used no tokens. 27,554 against 75,578 tokens save 0.635."""
    return 1 - ours / theirs if theirs else None


def _of_run(run: Run, task: str | None) -> Iterator[Spending]:
    solutions: dict[str, list[Mapping[str, Mapping[str, int]]]] = {}
    criteria: dict[str, int] = {}
    for _, score in run.scored(task):
        jury = score.details.get("jury")
        if jury is not None and len(jury["criteria"]) == len(jury["asked"]):  # an aborted judgement would look cheap
            solutions.setdefault(jury["method"], []).append(jury["tokens"])
            criteria[jury["method"]] = len(jury["asked"])
    for method, tokens in solutions.items():
        for name, phases in _versions(method, list(dict.fromkeys(phase for each in tokens for phase in each))):
            table = {phase: [_sum(each, [phase]) for each in tokens] for phase in phases}
            yield Spending(name, criteria[method], {_WHOLE: [_sum(each, phases) for each in tokens], **table})


def _versions(method: str, phases: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the judge; if verdicts were taken after each round, yield one judge for each number of rounds."""
    rounds = sorted(int(phase.removeprefix(_VERDICT)) for phase in phases if phase.startswith(_VERDICT))
    if method != "chateval" or not rounds:
        yield method, phases
        return
    for count in rounds:
        turns = [f"{_ROUND}{number}" for number in range(1, count + 1)]
        yield f"{method}, {count} round{'s' * (count > 1)}", ["initialisation", *turns, f"{_VERDICT}{count}"]


def _sum(tokens: Mapping[str, Mapping[str, int]], phases: Sequence[str]) -> tuple[int, int, int]:
    used = [tokens[phase] for phase in phases if phase in tokens]
    return sum(u["calls"] for u in used), sum(u["input_tokens"] for u in used), sum(u["output_tokens"] for u in used)


def _rows(spent: Spending, first: Spending) -> Iterator[tuple[Any, ...]]:
    for phase, used in spent.phases.items():
        calls, inputs, outputs = ([each[side] for each in used] for side in range(3))
        saved = saving(first.tokens, spent.tokens) if phase == _WHOLE and spent is not first else None
        yield (
            *(spent.judge, len(used), phase, fmean(calls), fmean(inputs), _sd(inputs), fmean(outputs), _sd(outputs)),
            *(fmean(inputs) / spent.criteria, saved),
        )


def _sd(values: Sequence[int]) -> float | None:
    return stdev(values) if len(values) > 1 else None

"""`creval analyse create-table`: the rows of Table 1, or of Table 8 without the factuality filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec
from creval_create.analysis.judging import JUDGE, read_judged
from creval_create.analysis.numbers import grouped, summary
from creval_create.analysis.output import OUTPUT, Found, finish
from creval_create.analysis.sets import JudgedSet, UnjudgedError
from creval_create.paths.validity import RULES
from creval_create.utility.rules import MAIN_PATIENCE, Rules

__all__ = ["CreateTable", "pooled_factuality"]

_NUMBERS = ("s 0.7", "s 0.9", "strength", "d", "paths")
_COLUMNS = (
    *("model", "task", "validity", "queries"),
    *(f"{name} {part}" for name in _NUMBERS for part in ("mean", "SD")),
    *("s 0.9 low", "s 0.9 high", "d n", "factuality", "tokens mean", "tokens SD", "tokens a call"),
)


class CreateTable:
    """Kind `analysis`: utility, strength, distance and number of paths with SD over queries, by rule of validity.

    A run is judged only by its own rule. `--judge-missing` asks its judge about the paths that the other rules accept;
    the verdicts are stored in the run, so that the next analysis has them free of charge.
    """

    example = "runs/mine --output tables"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse create-table`."""
        lenient = FieldSpec("unfiltered", "boolean", False, "Count untrue paths too (Table 8).")
        variant = FieldSpec("variant", "string", "paper", "Rules: paper or released.")
        return (variant, lenient, OUTPUT, *JUDGE)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Compute a row for each model, task and rule of validity."""
        threshold = 0.0 if options.get("unfiltered") else 1.0
        rows: list[Sequence[Any]] = []
        found = read_judged(runs, "valid" if options.get("unfiltered") else "factual", options)
        notes = found.notes
        unjudged: UnjudgedError | None = None
        for (model, task), sets in grouped(((one.model, one.task), one) for one in found.sets).items():
            for rule in RULES:
                rules = Rules.of(options.get("variant") or "paper", validity=rule)
                try:
                    rows.append((model, task, rule, len(sets), *_row(sets, rules, threshold)))
                except UnjudgedError as error:
                    unjudged = error
                    notes.append(f"{model}, {task}, {rule}: {error.what}. {error.fix}")
        if unjudged is not None and not rows:
            raise unjudged
        notes.append("SD over sets; d over sets of at least two paths (d n); factuality pooled over triples (Table 8).")
        return finish(Found("create-table", "CREATE, Table 1", _COLUMNS, rows, notes), options)


def _row(sets: Sequence[JudgedSet], rules: Rules, threshold: float) -> Sequence[Any]:
    counted = [one.counted(rules, threshold) for one in sets]
    strongest = [
        float(max((one.strength(place, rules) for place in places), default=0))
        for one, places in zip(sets, counted, strict=True)
    ]
    main = summary((one.worth(rules, MAIN_PATIENCE, threshold) for one in sets), high=rules.most(MAIN_PATIENCE))
    distance = summary(one.mean_distance(rules, threshold) for one in sets)
    columns = [
        summary(one.worth(rules, 0.7, threshold) for one in sets),
        main,
        summary(strongest),
        distance,
        summary(float(len(places)) for places in counted),
    ]
    tokens = summary(None if one.tokens is None else float(one.tokens) for one in sets)
    a_call = summary(None if one.tokens is None else one.tokens / one.calls for one in sets)
    return (
        *(part for column in columns for part in (column.mean, column.deviation)),
        *(main.low, main.high, distance.number, pooled_factuality(sets, rules)),
        *(tokens.mean, tokens.deviation, a_call.mean),
    )


def pooled_factuality(sets: Sequence[JudgedSet], rules: Rules) -> float | None:
    """Return the share of true triples of all valid paths."""
    said = [true for one in sets for place in one.valid(rules.validity) for true in one.paths[place].get("factual", ())]
    return sum(said) / len(said) if said else None

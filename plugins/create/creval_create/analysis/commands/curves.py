"""`creval analyse create-patience` (Figure 4) and `create-factuality` (Figure 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec
from creval_create.analysis.judging import JUDGE, Further, read_judged
from creval_create.analysis.numbers import grouped, summary
from creval_create.analysis.output import OUTPUT, PLOTS, CurvePoint, Found, finish, line_plot
from creval_create.analysis.sets import JudgedSet
from creval_create.utility.rules import MAIN_PATIENCE, PATIENCES, Rules

__all__ = ["CreateFactuality", "CreatePatience"]

_GRID = PATIENCES
_RULES = (
    FieldSpec("variant", "string", "paper", "Rules: paper or released."),
    FieldSpec("validity", "string", None, "Rule of validity: strict, shared or released; default: the variant's."),
)


class CreatePatience:
    """Kind `analysis`: mean utility by patience."""

    example = "runs/mine --output figures"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse create-patience`."""
        return (*_RULES, OUTPUT, PLOTS, *JUDGE)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Compute the curve of each model and task."""
        rules = _rules(options)
        found = _curves(
            "create-patience",
            "patience",
            read_judged(runs, "factual", options),
            lambda one, x: one.worth(rules, x),
            rules.most,
        )
        return finish(found, options)


class CreateFactuality:
    """Kind `analysis`: mean utility at patience 0.9 by the required share of true triples in a path.

    The paper prints `>`; only `>=` gives both ends of its Figure 5: all valid paths at 0, factual ones at 1. The
    greedy utility does not always decrease from one threshold to the next.
    """

    example = "runs/mine --output figures"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse create-factuality`."""
        return (*_RULES, OUTPUT, PLOTS, *JUDGE)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Compute the curve of each model and task."""
        rules = _rules(options)
        found = _curves(
            "create-factuality",
            "threshold",
            read_judged(runs, "valid", options),
            lambda one, x: one.worth(rules, MAIN_PATIENCE, x),
            lambda _: rules.most(MAIN_PATIENCE),
        )
        return finish(found, options)


def _rules(options: Any) -> Rules:
    return Rules.of(options.get("variant") or "paper", validity=options.get("validity"))


def _curves(
    name: str,
    x: str,
    judged: Further,
    worth: Callable[[JudgedSet, float], float],
    most: Callable[[float], float | None],
) -> Found:
    rows: list[Sequence[Any]] = []
    curves: dict[str, list[CurvePoint]] = {}
    for (model, task), sets in grouped(((one.model, one.task), one) for one in judged.sets).items():
        for at in _GRID:
            found = summary((worth(one, at) for one in sets), high=most(at))
            rows.append((model, task, at, *found))
            curves.setdefault(f"{model}, {task}", []).append((at, found.mean or 0.0, found.low, found.high))
    columns = ("model", "task", x, "utility", "SD", "low", "high", "queries")
    return Found(name, f"CREATE by {x}", columns, rows, judged.notes, drawing=line_plot(curves, x, "creative utility"))

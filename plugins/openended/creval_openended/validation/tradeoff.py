"""`creval analyse openended-tradeoff`: divergent against convergent creativity (Table 20; Figures 7, 15 and 16)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

from creval.plugin import AnalysisOutput, FieldSpec, RunError, open_runs
from creval.plugin.report import write_csv
from creval_analyses.figures import COLOURS, add_legend
from creval_openended.analyses.averages import grouped
from creval_openended.analyses.correlation import COLUMNS, spearman_by_problem
from creval_openended.analyses.output import FIGURES, OPTIONS, finished
from creval_openended.stepwise.filtering import UNFILTERED
from creval_openended.stepwise.outcome import has_filter

__all__ = ["SIZE", "Bin", "Tradeoff", "binned"]

SIZE = 15
"""Solutions per point, as in the paper's figures."""

_SIZE = FieldSpec("size", "integer", SIZE, "Solutions a point of the figure.")
_UNFILTERED = FieldSpec("unfiltered", "boolean", False, "Keep the solutions that the task leaves out (Table 19).")
_NOTES = (
    "rho: Spearman over solutions, p by its t approximation, interval over problems. Points of the figure: solutions "
    "by entropy (then id) in groups, median entropy and mean of the criterion; a last short group is kept and marked.",
)


class Point(NamedTuple):
    """A solution: its entropy, the score of a criterion, its doc."""

    entropy: float
    score: float
    doc: str


class Bin(NamedTuple):
    """A group of solutions of similar entropy: median entropy, mean score, number."""

    entropy: float
    score: float
    n: int


def binned(points: Sequence[Point], size: int = SIZE) -> list[Bin]:
    """Sort by entropy, then id, and form groups of `size`; 300 solutions make 20 points."""
    ordered = sorted(points, key=lambda point: (point.entropy, point.doc))
    groups = [ordered[start : start + size] for start in range(0, len(ordered), size)]
    return [Bin(median(p.entropy for p in some), fmean(p.score for p in some), len(some)) for some in groups]


class Tradeoff:
    """Spearman's rho of entropy and each criterion, and the binned points."""

    def options(self) -> Sequence[FieldSpec]:
        """Return the options."""
        return (*OPTIONS, _SIZE, _UNFILTERED)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Correlate within each model and task."""
        size = max(1, int(options.get("size") or SIZE))
        ends = UNFILTERED if options.get("unfiltered") else ""
        groups = grouped(_points(runs, options.get("task"), ends), lambda pair: pair[0])
        if not groups:
            raise RunError(
                "no solution has both an entropy and a verdict",
                where=", ".join(runs),
                fix="Name runs of macgyver_jury, ...",
            )
        rows, bins = [], {}
        for (task, model, criterion), some in groups:
            points = [point for _, point in some]
            pairs = [(point.entropy, point.score, point.doc) for point in points]
            rows.append((task, model, criterion, *spearman_by_problem(pairs).numbers))
            bins[task, model, criterion] = binned(points, size)
        table = (("task", "model", "criterion", *COLUMNS), rows)
        output = finished(
            "tradeoff",
            "Divergent against convergent",
            table,
            _NOTES,
            options,
            _plot(bins, {(str(row[0]), str(row[1]), str(row[2])): _rho(row) for row in rows}),
        )
        if options.get("output"):
            head = ("task", "model", "criterion", "entropy", "score", "n", "short")
            lines = [(*key, *each, each.n < size) for key, some in bins.items() for each in some]
            write_csv(Path(str(options["output"])) / "tradeoff-points.csv", head, lines)
        return output


def _points(runs: Sequence[str], task: str | None, ends: str) -> list[tuple[tuple[str, str, str], Point]]:
    found = []
    for run in open_runs(runs):
        for sample, score in run.scored(task):
            names = ("semantic_entropy_unfiltered",) if ends else ("semantic_entropy", "semantic_entropy_count")
            entropy = next((score.scores[name] for name in names if name in score.scores), None)
            end = ends if has_filter(sample.outcome) else ""
            if entropy is None or "jury" not in score.details:
                continue
            for name in (*score.details["jury"]["asked"], "overall"):
                if name + end in score.scores:
                    key = (sample.key.task, run.model, name)
                    found.append((key, Point(entropy, score.scores[name + end], sample.key.doc)))
    return found


def _rho(row: Sequence[Any]) -> str:
    """Return the text above a panel: rho, and its interval if there is one."""
    rho, low, high = row[5:8]
    between = "" if low is None else f" [{low:+.2f}, {high:+.2f}]"
    return "" if rho is None else f"ρ = {rho:+.2f}{between}"


def _plot(
    bins: Mapping[tuple[str, str, str], Sequence[Bin]], rhos: Mapping[tuple[str, str, str], str]
) -> Callable[[Path], Sequence[Path]]:
    criteria = list(dict.fromkeys(criterion for _, _, criterion in bins))

    def plot(base: Path) -> Sequence[Path]:
        with FIGURES.draw(1, len(criteria), 4.0 * len(criteria), 4.0) as (drawn, axes):
            for axis, criterion in zip(axes, criteria, strict=True):
                lines = [(key, some) for key, some in bins.items() if key[2] == criterion]
                for number, (key, some) in enumerate(lines):
                    colour = COLOURS[number % len(COLOURS)]
                    label = f"{key[1]}, {key[0]}"
                    axis.plot([b.entropy for b in some], [b.score for b in some], "o-", label=label, color=colour)
                    above = (0, 4 + 11 * (len(lines) - 1 - number))
                    axis.annotate(
                        rhos[key], (0, 1), above, "axes fraction", textcoords="offset points", color=colour, fontsize=8
                    )
                axis.set_xlabel("semantic entropy (nats)")
                axis.set_ylabel(criterion)
                axis.set_ylim(-0.02, 1.02)
            add_legend(drawn, axes)
            return FIGURES.save(drawn, base)

    return plot

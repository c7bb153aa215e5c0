"""`creval analyse kumo-optimal`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec, UsageError
from creval.plugin.report import write_csv, write_json
from creval_analyses.figures import COLOURS, add_legend, whole_numbers
from creval_analyses.workbench import Workbench
from creval_kumo.analysis.difficulty import difficulty
from creval_kumo.analysis.domain_names import texts
from creval_kumo.analysis.optimal import ALL, Distribution, OptimalCount, distributions
from creval_kumo.analysis.output import FIGURES, FILES
from creval_kumo.analysis.plays import is_game, read_plays
from creval_kumo.search.golden import golden_run

__all__ = ["OptimalAnalysis"]

_COLUMNS = ("difficulty", "domain", "games", "tests", "most frequent", "paper's count", "paper's most frequent")


class OptimalAnalysis:
    """Kind `analysis`: the distribution of optimal action counts (Fig. 6c) over the games of tasks and runs."""

    example = "--task kumo_easy_medical --no-plots"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse kumo-optimal`."""
        task = FieldSpec("task", "string", (), "Task whose games are used, e.g. kumo_easy; may be repeated.", True)
        return (task, *FILES)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Solve every game once. Raises UsageError without any game, ScoringError if a proof reaches its limits."""
        tasks = texts(options.get("task"))
        if not tasks and not runs:
            raise UsageError("no games are named", where="--task", fix="Name runs, or a task: --task kumo_easy")
        found = distributions(_counts([*_docs_of_tasks(tasks), *_docs_of_runs(runs)]))
        files: list[Path] = []
        if options.get("output"):
            files = _write(found, Path(str(options["output"])), not options.get("no_plots"))
        return AnalysisOutput(
            title="Actions of optimal play",
            columns=_COLUMNS,
            rows=[_row(one) for one in found],
            notes=["The paper's count (Fig. 6c) is tests + 2: its code counts the prediction twice."],
            files=[str(file) for file in files],
            data={"distributions": [_data(one) for one in found]},
        )


def _docs_of_tasks(names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    if not names:
        return
    with Workbench() as bench:
        for task, doc in bench.docs(names):
            if not is_game(doc.fields):
                raise UsageError(f"{task!r} is not a task of KUMO", where="--task", fix="For example: kumo_easy")
            yield doc.fields


def _docs_of_runs(runs: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    if runs:
        yield from (play.doc for play in read_plays(runs))


def _counts(docs: Sequence[Mapping[str, Any]]) -> Iterator[OptimalCount]:
    """Count each game once, however many runs and repeats played it."""
    seen = set()
    for doc in docs:
        key = (doc["domain"], tuple(doc["truths"]), tuple(sorted((a, str(o)) for a, o in doc["observations"].items())))
        if key not in seen:
            seen.add(key)
            level = difficulty(len(doc["truths"]), len(doc["actions"]))
            yield OptimalCount(level, str(doc["domain"]), len(golden_run(doc).tests))


def _row(one: Distribution) -> tuple[Any, ...]:
    return (
        one.difficulty, one.domain, one.games, one.mean_tests, one.mode_tests, one.mean_compat, one.mode_tests + 2
    )  # fmt: skip


def _data(one: Distribution) -> dict[str, Any]:
    return {
        "difficulty": one.difficulty,
        "domain": one.domain,
        "games": one.games,
        "mean_tests": one.mean_tests,
        "mean_compat": one.mean_compat,
        "counts": [{"tests": tests, "compat": tests + 2, "games": number} for tests, number in one.counts],
    }


def _write(found: Sequence[Distribution], folder: Path, plots: bool) -> list[Path]:
    rows = [(one.difficulty, one.domain, tests, tests + 2, number) for one in found for tests, number in one.counts]
    files = [
        write_csv(folder / "optimal.csv", ("difficulty", "domain", "tests", "compat", "games"), rows),
        write_json(folder / "optimal.json", {"distributions": [_data(one) for one in found]}),
    ]
    return files + (_plot(found, folder / "optimal") if plots else [])


def _plot(found: Sequence[Distribution], base: Path) -> list[Path]:
    levels = list(dict.fromkeys(one.difficulty for one in found))
    with FIGURES.draw(1, len(levels), 4.6 * len(levels), 3.2) as (drawn, axes):
        for axis, level in zip(axes, levels, strict=True):
            below: dict[int, int] = {}
            of_level = [one for one in found if one.difficulty == level]
            for index, one in enumerate(o for o in of_level if o.domain != ALL):
                places = [tests + 2 for tests, _ in one.counts]
                heights = [number for _, number in one.counts]
                bottoms = [below.get(place, 0) for place in places]
                colour = COLOURS[index % len(COLOURS)]
                axis.bar(places, heights, 0.85, bottom=bottoms, label=one.domain, color=colour)
                below |= {
                    place: bottom + height for place, bottom, height in zip(places, bottoms, heights, strict=True)
                }
            mean = next(one for one in of_level if one.domain == ALL).mean_compat
            axis.axvline(mean, color="#000000", linewidth=1, linestyle="--")
            axis.set_title(f"{level}: mean {mean:.2f} ({mean - 2:.2f} tests)", fontsize=9)
            axis.set_xlabel("actions of optimal play (paper's count: tests + 2)")
            whole_numbers(axis.xaxis)
            whole_numbers(axis.yaxis)
        axes[0].set_ylabel("games")
        if len(of_level) <= len(COLOURS) + 1:
            add_legend(drawn, axes, "right")
        return FIGURES.save(drawn, base)

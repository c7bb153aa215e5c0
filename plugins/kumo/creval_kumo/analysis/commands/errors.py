"""`creval analyse kumo-errors`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec
from creval.plugin.report import write_csv, write_json
from creval_analyses.figures import COLOURS, add_legend
from creval_kumo.analysis.errors import GameCost, Rates, rates
from creval_kumo.analysis.output import FIGURES, FILES, TASK
from creval_kumo.analysis.plays import read_plays

__all__ = ["ErrorsAnalysis"]

_COLUMNS = ("model", "difficulty", "domains", "games", "parse errors", "tokens")


class ErrorsAnalysis:
    """Kind `analysis`: parse-error rate and tokens per game by model and difficulty (Fig. 6a and b)."""

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse kumo-errors`."""
        return (TASK, *FILES)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Analyse the games of the runs."""
        plays = read_plays(runs, options.get("task"))
        found = rates(GameCost(play.model, play.difficulty, play.domain, play.unread, play.tokens) for play in plays)
        rows = [(one.model, one.difficulty, one.domains, one.games, one.parse_errors, one.tokens) for one in found]
        data = {"rates": [asdict(one) for one in found]}
        files: list[Path] = []
        if options.get("output"):
            folder = Path(str(options["output"]))
            files = [write_csv(folder / "errors.csv", _COLUMNS, rows), write_json(folder / "errors.json", data)]
            if not options.get("no_plots"):
                files += _plot(found, folder / "errors")
        notes = [
            "Means over domains. Parse errors: answers that could not be read, were cut at the token limit or refused. "
            "Tokens: input and output of a whole game, 0 where the model reports none."
        ]
        return AnalysisOutput("Parse errors and tokens", _COLUMNS, rows, notes, [str(file) for file in files], data)


def _plot(found: Sequence[Rates], base: Path) -> list[Path]:
    models = sorted({one.model for one in found})
    levels = sorted({one.difficulty for one in found})
    height = 0.8 / len(levels)
    with FIGURES.draw(1, 2, 10.0, 1.2 + 0.3 * len(models)) as (drawn, axes):
        for number, level in enumerate(levels):
            of_level = [one for one in found if one.difficulty == level]
            places = [models.index(one.model) + (number - (len(levels) - 1) / 2) * height for one in of_level]
            colour = COLOURS[number % len(COLOURS)]
            axes[0].barh(places, [one.parse_errors for one in of_level], height, label=level, color=colour)
            axes[1].barh(places, [one.tokens for one in of_level], height, color=colour)
        axes[0].set_yticks(range(len(models)), models)
        axes[1].set_yticks(range(len(models)), [""] * len(models))
        for axis, label in zip(axes, ("share of parse errors", "tokens a game"), strict=True):
            axis.invert_yaxis()
            axis.set_xlabel(label)
        add_legend(drawn, axes)
        return FIGURES.save(drawn, base)

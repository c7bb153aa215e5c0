"""`creval analyse kumo-structure`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec, UsageError
from creval.plugin.report import write_csv, write_json
from creval_analyses.figures import add_legend
from creval_kumo.analysis.output import FIGURES, FILES, TASK
from creval_kumo.analysis.plays import Play, read_plays
from creval_kumo.analysis.structure import Association, Table, associate, game_signature, solved

__all__ = ["StructureAnalysis", "by_model"]

MOST_PERMUTATIONS = 1_000_000

_COLUMNS = ("model", "difficulty", "games", "structures", "solved", "chi2", "df", "p", "V", "V by chance", "p permuted")


class StructureAnalysis:
    """Kind `analysis`: whether the structure of a game predicts success (Fig. 6e, Eqs. 6 and 7), by model."""

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse kumo-structure`."""
        return (
            FieldSpec("permutations", "integer", 2000, "Random tables for the permutation p-value; 0 for none."),
            FieldSpec("seed", "integer", 0, "Seed of the permutations.", minimum=0),
            TASK,
            *FILES,
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Analyse the games of the runs, model by model and difficulty by difficulty."""
        draws, seed = int(options.get("permutations", 2000)), int(options.get("seed") or 0)
        if not 0 <= draws <= MOST_PERMUTATIONS:
            raise UsageError(f"{draws} permutations are outside 0 to {MOST_PERMUTATIONS:,}", where="--permutations")
        plays = read_plays(runs, options.get("task"))
        found = {key: associate(table, draws, seed) for key, table in by_model(plays).items()}
        rows = [_row(*key, one) for key, one in found.items()]
        data = {"results": [{"model": m, "difficulty": d, **asdict(one)} for (m, d), one in found.items()]}
        files: list[Path] = []
        if options.get("output"):
            folder = Path(str(options["output"]))
            files = [write_csv(folder / "structure.csv", _COLUMNS, rows), write_json(folder / "structure.json", data)]
            if not options.get("no_plots"):
                files += _plot(found, folder / "structure")
        notes = [
            "A game is solved if more than half of its tries succeeded. Few games per structure make V large and p "
            "rough: compare V with V by chance, and read the permutation p-value."
        ]
        notes += [f"{model}, {level}: {one.reason}" for (model, level), one in found.items() if one.reason]
        return AnalysisOutput(
            "Structure of games and success", _COLUMNS, rows, notes, [str(file) for file in files], data
        )


def by_model(plays: Iterable[Play]) -> dict[tuple[str, str], Table]:
    """Return the contingency table of each (model, difficulty), sorted."""
    tries: dict[tuple[str, str], dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    structures: dict[str, Any] = {}
    for play in plays:
        tries[play.model, play.difficulty][play.game].append(play.success)
        if play.game not in structures:
            structures[play.game] = game_signature(play.doc)
    return {
        key: Table.of((structures[game], solved(successes)) for game, successes in games.items())
        for key, games in sorted(tries.items())
    }


def _row(model: str, level: str, one: Association) -> tuple[Any, ...]:
    return (
        model, level, one.n, one.structures, one.solved, one.chi2, one.freedom, one.p, one.v, one.chance_v,
        one.p_permuted,
    )  # fmt: skip


def _plot(found: dict[tuple[str, str], Association], base: Path) -> list[Path]:
    shown = [(f"{model}, {level}", one) for (model, level), one in found.items() if one.v is not None]
    if not shown:
        return []
    with FIGURES.draw(1, 1, 6.5, 0.9 + 0.28 * len(shown)) as (drawn, axes):
        axis = axes[0]
        names = [name for name, _ in shown]
        colours = ["#0072B2" if (one.p or 0) < 0.05 else "#9aa3ad" for _, one in shown]
        axis.barh(names, [one.v or 0.0 for _, one in shown], color=colours)
        axis.scatter(
            [one.chance_v or 0.0 for _, one in shown], names, marker="|", s=90, color="#000000", label="by chance"
        )
        axis.invert_yaxis()
        axis.set_xlabel("Cramer's V (blue: p < .05)")
        add_legend(drawn, axes)
        return FIGURES.save(drawn, base)

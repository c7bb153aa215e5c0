"""`creval analyse kumo-domains`: success and action count in each domain, as a heat map (Figure 3)."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from creval.plugin import AnalysisOutput, FieldSpec
from creval.plugin.report import write_csv, write_json
from creval_kumo.analysis.output import FIGURES, FILES, TASK
from creval_kumo.analysis.plays import Play, read_plays

__all__ = ["DomainsAnalysis"]

_COLUMNS = (
    *("domain", "difficulty", "model", "plays", "success rate", "relative action count"),
    *("authors' success rate", "authors' relative action count"),
)
_SUCCESS, _COUNT, _AUTHORS = 4, 5, 6
Row = tuple[str, str, str, int, float, float | None, float | None, float | None]


class DomainsAnalysis:
    """Kind `analysis`: success rate and relative action count by domain and model, the easiest domain first (Figure 3).

    Domains are ordered by the mean success of the models.
    """

    example = "runs/mine --output figures"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse kumo-domains`."""
        return (TASK, *FILES)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Average the games of the runs."""
        groups: defaultdict[tuple[str, str, str], list[Play]] = defaultdict(list)
        for play in read_plays(runs, options.get("task")):
            groups[play.domain, play.difficulty, play.model].append(play)
        rows = [_row(key, plays) for key, plays in groups.items()]
        ease = {key: fmean(row[4] for row in rows if row[:2] == key) for key in {row[:2] for row in rows}}
        rows.sort(key=lambda row: (-ease[row[:2]], row[:3]))
        written: list[Path] = []
        data = {"rows": [dict(zip(_COLUMNS, row, strict=True)) for row in rows]}
        if options.get("output"):
            folder = Path(str(options["output"]))
            written = [write_csv(folder / "domains.csv", _COLUMNS, rows), write_json(folder / "domains.json", data)]
            if not options.get("no_plots"):
                written += _plot(rows, folder / "domains")
        notes = [_SOURCE] if any(row[6] is not None for row in rows) else []
        notes += ["Means over games and tries. relative action count: Eq. 4, in the paper's count."]
        return AnalysisOutput("Success by domain", _COLUMNS, rows, notes, [str(file) for file in written], data)


def _row(key: tuple[str, str, str], plays: Sequence[Play]) -> Row:
    counts = [play.relative_count for play in plays if play.relative_count is not None]
    success = fmean(float(play.success) for play in plays)
    published = _published().get((key[0], _plain(key[2]))) if key[1] == "easy" else None
    return (*key, len(plays), success, fmean(counts) if counts else None, *(published or (None, None)))


_SOURCE = (
    "authors': all 5,000 easy games, 5 tries each, from the runs that the authors published "
    "(github.com/linhaowei1/kumo 8919ff0), of the domains and models that are among yours."
)


@functools.cache
def _published() -> Mapping[tuple[str, str], tuple[float, float]]:
    """Return the success rate and relative action count by domain and model, from the authors' own runs (Figure 3)."""
    text = files("creval_kumo").joinpath("analysis", "figure_3.csv").read_text(encoding="utf-8")
    rows = [line.split(",") for line in text.splitlines()[1:]]
    return {(domain, _plain(model)): (float(success), float(count)) for domain, model, success, count in rows}


def _plain(model: str) -> str:
    """Return a model's name normalized: `openrouter/qwen/qwen-2.5-7b-instruct` gives `qwen2.5-7b-instruct`."""
    return "".join(sign for sign in model.rpartition("/")[2].partition(":")[0].casefold() if sign.isalnum())


def _plot(rows: Sequence[Row], base: Path) -> list[Path]:
    """Draw both numbers as heat maps: a row per domain and difficulty, a column per model, the best model first.

    If the authors published numbers for a model, they are in the column after it.
    """
    places = list(dict.fromkeys(row[:2] for row in rows))
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        found[row[2]].append(row[4])
    models = sorted(found, key=lambda model: -fmean(found[model]))
    printed = {row[2] for row in rows if row[_AUTHORS] is not None}
    columns = [(model, theirs) for model in models for theirs in (False, True) if not theirs or model in printed]
    with FIGURES.draw(1, 2, 5.0 + 1.0 * len(columns), 2.2 + 0.25 * len(places)) as (drawn, axes):
        for axis, column in zip(axes, (_SUCCESS, _COUNT), strict=True):
            cells = {(row[:2], (row[2], theirs)): row[column + 2 * theirs] for row in rows for theirs in (False, True)}
            scale = (0.0, 1.0) if column == _SUCCESS else (None, None)
            grid = _grid(cells, places, columns)
            image = axis.imshow(grid, aspect="auto", cmap="viridis", vmin=scale[0], vmax=scale[1])
            axis.set_title(_COLUMNS[column])
            names = [f"{model.rpartition('/')[2]}{' (authors)' if theirs else ''}" for model, theirs in columns]
            axis.set_xticks(range(len(columns)), names, rotation=45, ha="right", rotation_mode="anchor", fontsize=7)
            drawn.colorbar(image, ax=axis)
        several = len({difficulty for _, difficulty in places}) > 1
        said = [f"{domain}, {difficulty}" if several else domain for domain, difficulty in places]
        axes[0].set_yticks(range(len(places)), said, fontsize=7)
        axes[1].set_yticks([])
        return FIGURES.save(drawn, base)


def _grid(
    cells: Mapping[tuple[Any, Any], Any], places: Sequence[tuple[str, str]], models: Sequence[tuple[str, bool]]
) -> np.ndarray:
    """Return the numbers of the cells, NaN for missing cells."""
    known = [[cells.get((place, model)) for model in models] for place in places]
    return np.array([[np.nan if value is None else float(value) for value in line] for line in known])

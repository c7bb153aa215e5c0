"""`creval analyse openended-temperature`: entropy (Figure 5b) and criteria (H.1, Figure 19) by temperature."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec, open_runs
from creval_analyses.figures import COLOURS, add_legend
from creval_openended.analyses.averages import grouped
from creval_openended.analyses.output import FIGURES, OPTIONS, finished
from creval_openended.analyses.steps import read_steps, temperature_of
from creval_openended.stepwise.outcome import left_out

__all__ = ["Temperature"]

_KEYS = ("task", "model", "temperature")
_ENTROPY = "entropy"
_ACROSS = 4
_NOTES = (
    "Where a provider gives no log-probabilities the entropy is its count estimator. A criterion is the share of the "
    "judged solutions that fulfil it, overall their mean; without a judge (macgyver and the like) there is none.",
)
Key = tuple[str, str, float]
Verdicts = Mapping[Key, Mapping[str, Sequence[float]]]


class Temperature:
    """Entropy of steps and shares of criteria by sampling temperature."""

    example = "runs/cold runs/warm --output figures"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options."""
        return OPTIONS

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Average within each model, task and temperature; leave out steps sampled without a temperature."""
        task = options.get("task")
        steps = [row for row in read_steps(runs, task) if row.temperature is not None]
        verdicts = _verdicts(runs, task)
        criteria = list(dict.fromkeys(name for found in verdicts.values() for name in found))
        rows = []
        for key, some in grouped(steps, lambda row: (row.task, row.model, row.temperature or 0.0)):
            entropies = [row.entropy for row in some]
            spread = stdev(entropies) if len(entropies) > 1 else None
            found = verdicts.get(key, {})
            judged = max(map(len, found.values()), default=0) if criteria else None
            shares = [fmean(found[name]) if name in found else None for name in criteria]
            rows.append((*key, len(some), fmean(entropies), spread, *((judged, *shares) if criteria else ())))
        columns = (*_KEYS, "steps", _ENTROPY, "sd", *(("judged", *criteria) if criteria else ()))
        plot = _plot(columns, rows, [_ENTROPY, *criteria])
        title = "Divergent and convergent creativity by temperature" if criteria else "Entropy by temperature"
        return finished("temperature", title, (columns, rows), _NOTES, options, plot)


def _verdicts(runs: Sequence[str], task: str | None) -> Verdicts:
    """Return the scores of each criterion, `overall` last, by task, model and temperature."""
    found: defaultdict[Key, dict[str, list[float]]] = defaultdict(dict)
    for run in open_runs(runs):
        for sample, score in run.scored(task):
            temperature = temperature_of(sample)
            if "jury" not in score.details or left_out(sample.outcome) is not None or temperature is None:
                continue
            for name in (*score.details["jury"]["asked"], "overall"):
                if name in score.scores:
                    of = found[sample.key.task, run.model, temperature]
                    of.setdefault(name, []).append(score.scores[name])
    return found


def _plot(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], shown: Sequence[str]
) -> Callable[[Path], Sequence[Path]]:
    """Draw a panel for the entropy and each criterion, one line per model and task."""
    labels = list(dict.fromkeys((row[1], row[0]) for row in rows))

    def plot(base: Path) -> Sequence[Path]:
        across = min(_ACROSS, len(shown))
        down = -(-len(shown) // across)
        with FIGURES.draw(down, across, 4.0 * across, 3.4 * down) as (drawn, axes):
            for axis in axes[len(shown) :]:
                axis.set_axis_off()
            for axis, name in zip(axes, shown, strict=False):
                place = columns.index(name)
                for number, (model, task) in enumerate(labels):
                    points = [
                        (row[2], row[place]) for row in rows if row[:2] == (task, model) and row[place] is not None
                    ]
                    if points:
                        colour = COLOURS[number % len(COLOURS)]
                        axis.plot(*zip(*points, strict=True), "o-", label=f"{model}, {task}", color=colour)
                axis.set_xlabel("temperature")
                axis.set_ylabel("entropy (nats)" if name == _ENTROPY else f"{name} (share)")
                highest = max((row[place] for row in rows if row[place] is not None), default=0)
                axis.set_ylim(0, (1.1 * highest or 1) if name == _ENTROPY else 1.02)
            add_legend(drawn, axes)
            return FIGURES.save(drawn, base)

    return plot

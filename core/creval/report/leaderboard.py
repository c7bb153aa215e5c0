"""Many runs as one table of models: ranked only among numbers that were made in the same way."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from creval.format import decimals, number
from creval.runs.reader import Run

__all__ = ["COLUMNS", "Standing", "interval", "leaderboard", "leaderboard_html"]


@dataclass(frozen=True, slots=True)
class Standing:
    """One model's value of one metric, and its rank among those with the same task, data, settings and instruments.

    `rank` is None where neither direction is better. `failed` counts samples that are not scored: unparsed, truncated,
    refused and errored ones.
    """

    task: str
    metric: str
    condition: str | None
    rank: int | None
    model: str
    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    failed: int
    task_hash: str
    data: str
    settings: str
    instruments: str
    run: str

    @property
    def group(self) -> tuple[str, ...]:
        """What numbers that may be ranked together share."""
        made = (self.task_hash, self.data, self.settings, self.instruments)
        return (self.task, self.metric, self.condition or "", *made)


COLUMNS = tuple(field.name for field in fields(Standing))


def leaderboard(runs: Sequence[Run], *, every_metric: bool = False) -> list[Standing]:
    """Return the standings of the primary metrics (or of every metric) of finished runs, best first in each group."""
    found: dict[tuple[str, ...], list[tuple[Standing, bool | None]]] = {}
    for run in runs:
        for result, metric in _metrics(run, every_metric):
            standing = _standing(run, result, metric)
            found.setdefault(standing.group, []).append((standing, metric.get("higher_is_better")))
    return [one for key in sorted(found) for one in _ranked(found[key])]


def _metrics(run: Run, every: bool) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    for result in run.results["tasks"]:
        for metric in result["metrics"]:
            if every or metric.get("primary"):
                yield result, metric


def _standing(run: Run, result: Mapping[str, Any], metric: Mapping[str, Any]) -> Standing:
    own = [
        *([f"shard {result['shard']}"] if result.get("shard") else []),
        *(f"{name}={value}" for name, value in (result.get("generation_overrides") or {}).items()),
        *(f"{name}={','.join(map(str, values))}" for name, values in (result.get("condition_overrides") or {}).items()),
    ]
    counts = metric["counts"]
    return Standing(
        task=str(result["task"]),
        metric=str(metric["name"]),
        condition=metric.get("condition"),
        rank=None,
        model=run.model,
        value=metric["value"],
        ci_low=metric["ci_low"],
        ci_high=metric["ci_high"],
        n=int(metric["n"]),
        failed=sum(counts[name] for name in ("unparsed", "truncated", "refused", "errored")),
        task_hash=str(result["hash"])[:8],
        data=f"{str(result['dataset'])[:8]}/{result['docs']}/{str(result.get('docs_digest', ''))[:8]}",
        settings=", ".join(own),
        instruments=", ".join(f"{name}={value}" for name, value in sorted((result.get("instruments") or {}).items())),
        run=run.folder.name,
    )


def _ranked(group: Sequence[tuple[Standing, bool | None]]) -> list[Standing]:
    """Return a group from best to worst. Equal values share a rank; what has no value comes last, without one."""
    better = group[0][1]
    sign = -1.0 if better is not False else 1.0
    valued = [one for one, _ in group if one.value is not None]
    ordered = sorted(valued, key=lambda one: (sign * float(one.value or 0), one.model, one.run))
    places = [1 + sum(sign * float(o.value or 0) < sign * float(one.value or 0) for o in valued) for one in ordered]
    ranked = ordered if better is None else [replace(one, rank=p) for one, p in zip(ordered, places, strict=True)]
    return [*ranked, *(one for one, _ in group if one.value is None)]


def interval(one: Standing) -> str | None:
    """Return the interval as text, None where there is none."""
    if one.ci_low is None or one.ci_high is None or one.value is None:
        return None
    places = decimals(one.value)
    return f"{number(one.ci_low, places)} to {number(one.ci_high, places)}"


_STYLE = """
:root { color-scheme: light dark; --line: #8884; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .25rem; } .made { color: #888; font-size: .85rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; font-size: .85rem; } td.n, th.n { text-align: right; } .wide { overflow-x: auto; }
"""


def leaderboard_html(standings: Sequence[Standing], title: str = "Leaderboard") -> str:
    """Return one page without network: a table for each group of numbers that may be compared."""
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style><h1>{html.escape(title)}</h1>",
    ]
    groups: dict[tuple[str, ...], list[Standing]] = {}
    for one in standings:
        groups.setdefault(one.group, []).append(one)
    for (task, metric, condition, *made), ones in groups.items():
        names = ("task", "data", "settings", "instruments")
        how = "; ".join(f"{name} {value}" for name, value in zip(names, made, strict=True) if value)
        head = " ".join(filter(None, [task, metric, condition]))
        parts.append(f'<h2>{html.escape(head)}</h2><p class="made">{html.escape(how)}</p><div class="wide"><table>')
        parts.append(_row("th", ["", "model", "value", "95 % interval", "n", "not scored", "run"]))
        parts += [_row("td", _cells(one)) for one in ones]
        parts.append("</table></div>")
    return "\n".join([*parts, "</html>", ""])


def _cells(one: Standing) -> list[str]:
    value = "–" if one.value is None else number(one.value)
    rank = "" if one.rank is None else str(one.rank)
    return [rank, one.model, value, interval(one) or "–", str(one.n), str(one.failed), one.run]


def _row(tag: str, cells: Sequence[str]) -> str:
    numeric = {0, 2, 4, 5}
    marks = [f"<{tag}{' class=n' if i in numeric else ''}>{html.escape(cell)}</{tag}>" for i, cell in enumerate(cells)]
    return f"<tr>{''.join(marks)}</tr>"

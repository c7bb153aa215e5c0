"""Many runs as one table of models: ranked only among comparable numbers."""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from creval.plugin import Run, Status
from creval.plugin.release import decimals, namesakes, number, without_empty
from creval_compare.model_table import GROUPS_NOTE
from creval_compare.significance_groups import significance_groups

__all__ = [
    "COLUMNS",
    "NAMES",
    "Standing",
    "interval",
    "leaderboard",
    "leaderboard_html",
    "overall",
    "standings_table",
]


@dataclass(frozen=True, slots=True)
class Standing:
    """One model's value of one metric, and its rank among those with the same task, data, settings and resources.

    `task` is a task, or a suite with its own numbers.
    `rank` is None if neither direction is better, and for baselines. Runs that share a letter of `apart` do not
    differ significantly (as `creval compare` tests it); None if that is unknown. `failed` counts samples that are not
    scored: unparsed, truncated, refused and errored ones.
    """

    task: str
    metric: str
    condition: str | None
    rank: int | None
    apart: str | None
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
        """Return the key that numbers of one ranking share."""
        made = (self.task_hash, self.data, self.settings, self.instruments)
        return (self.task, self.metric, self.condition or "", *made)


COLUMNS = tuple(field.name for field in fields(Standing))


def leaderboard(runs: Sequence[Run], *, every_metric: bool = False) -> list[Standing]:
    """Return the standings of the primary metrics (or of every metric) of finished runs, best first in each group.

    Suites with their own numbers are among the tasks.

    Baselines are not ranked: they follow the models. Significant differences are tested for up to
    20 models. Tasks with one name from different plugins have the plugin before the name.
    """
    found: dict[tuple[str, ...], list[_Entrant]] = {}
    shared, called = namesakes(run.results for run in runs), dict[tuple[str, ...], str]()
    for run in runs:
        for result, metric in _metrics(run, every_metric):
            standing = _standing(run, result, metric)
            if result["task"] in shared:
                called[standing.group] = str(result["qualified"])
            found.setdefault(standing.group, []).append(_Entrant(standing, metric.get("higher_is_better"), run))
    ranked = ((key, one) for key in sorted(found) for one in _ranked(found[key]))
    return [replace(one, task=called.get(key, one.task)) for key, one in ranked]


class _Entrant(NamedTuple):
    standing: Standing
    higher_is_better: bool | None
    run: Run

    @property
    def ranks(self) -> bool:
        """Return whether it is ranked: a model with a value."""
        return self.standing.value is not None and not self.standing.model.startswith("baseline/")


def _metrics(run: Run, every: bool) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    for result in [*run.results.get("suites", ()), *run.results["tasks"]]:
        for metric in result["metrics"]:
            if every or metric.get("primary"):
                yield result, metric


def _standing(run: Run, result: Mapping[str, Any], metric: Mapping[str, Any]) -> Standing:
    own = [
        *([f"shard {result['shard']}"] if result.get("shard") else []),
        *(f"{name}={value}" for name, value in (result.get("prompt_overrides") or {}).items()),
        *(f"{name}={value}" for name, value in (result.get("generation_overrides") or {}).items()),
        *(f"{name}={','.join(map(str, values))}" for name, values in (result.get("condition_overrides") or {}).items()),
    ]
    counts = metric["counts"]
    return Standing(
        task=str(result["task"]),
        metric=str(metric["name"]),
        condition=metric.get("condition"),
        rank=None,
        apart=None,
        model=run.model,
        value=metric["value"],
        ci_low=metric["ci_low"],
        ci_high=metric["ci_high"],
        n=int(metric["n"]),
        failed=sum(counts[each.value] for each in Status if each.is_failure or each is Status.ERRORED),
        task_hash=_task_hash(result, metric)[:8],
        data=f"{str(result['dataset'])[:8]}/{result['docs']}/{str(result.get('docs_digest', ''))[:8]}",
        settings=", ".join(own),
        instruments=", ".join(f"{name}={value}" for name, value in sorted((result.get("instruments") or {}).items())),
        run=run.folder.name,
    )


def _task_hash(result: Mapping[str, Any], metric: Mapping[str, Any]) -> str:
    """Return the hash of a task; for a number of a suite one that also covers its metrics."""
    if "average" not in metric:
        return str(result["hash"])
    keys = ("task", "metric", "share", "range")
    made = [result["hash"], metric["average"], [[each.get(key) for key in keys] for each in metric["tasks"]]]
    return hashlib.sha256(json.dumps(made).encode()).hexdigest()


def _ranked(group: Sequence[_Entrant]) -> list[Standing]:
    """Return a group from best to worst, then baselines, then those without a value. Equal values share a rank."""
    better = group[0].higher_is_better
    sign = -1.0 if better is not False else 1.0

    def place(one: Standing) -> tuple[float, str, str]:
        return sign * float(one.value or 0), one.model, one.run

    entrants = sorted((each for each in group if each.ranks), key=lambda each: place(each.standing))
    ranked = []
    for each, letters in zip(entrants, _groups(entrants), strict=True):
        ahead = sum(place(other.standing)[0] < place(each.standing)[0] for other in entrants)
        ranked.append(replace(each.standing, rank=None if better is None else 1 + ahead, apart=letters))
    others = [each.standing for each in group if not each.ranks]
    baselines = sorted((one for one in others if one.value is not None), key=place)
    return [*ranked, *baselines, *(one for one in others if one.value is None)]


def _groups(entrants: Sequence[_Entrant]) -> Sequence[str | None]:
    """Return each entrant's groups without significant differences; None for all if unknown."""
    about = entrants[0].standing if entrants else None
    if about is None:
        return []
    found = significance_groups([each.run for each in entrants], about.task, about.metric, about.condition)
    return [None] * len(entrants) if found is None else found


def interval(one: Standing) -> str | None:
    """Return the interval as text, None if there is none."""
    if one.ci_low is None or one.ci_high is None or one.value is None:
        return None
    places = decimals(one.value)
    return f"{number(one.ci_low, places)} to {number(one.ci_high, places)}"


NAMES = ("task", "metric", "model", "made with")
"""Columns of `standings_table` with names."""


def overall(standings: Sequence[Standing]) -> list[Standing]:
    """Return the standings without those under a single condition, if the metric has one over all conditions."""
    whole = {(one.task, one.metric) for one in standings if one.condition is None}
    return [one for one in standings if one.condition is None or (one.task, one.metric) not in whole]


def standings_table(standings: Sequence[Standing]) -> tuple[list[str], list[list[Any]], list[str]]:
    """Return columns, rows and notes for readers; a column says why numbers of a metric are ranked separately."""
    columns = ["task", "metric", "rank", "model", "groups", "value", "95 % interval", "n", "not scored", "made with"]
    ways: dict[tuple[str, ...], dict[tuple[str, ...], Standing]] = {}
    for one in standings:
        ways.setdefault(one.group[:3], {}).setdefault(one.group, one)
    rows = [
        [
            *(one.task, " ".join(filter(None, [one.metric, one.condition])), one.rank, one.model, one.apart),
            *(one.value, interval(one), one.n, one.failed, _distinction(one, list(ways[one.group[:3]].values()))),
        ]
        for one in standings
    ]
    notes = [f"{GROUPS_NOTE}; baselines have no rank"] if any(one.apart for one in standings) else []
    if any(len(found) > 1 for found in ways.values()):
        notes.append("made with: why numbers of a metric are ranked apart; digests: --csv, --json")
    return *(without_empty(columns, rows) if rows else (columns, rows)), notes


def _distinction(one: Standing, ways: Sequence[Standing]) -> str | None:
    """Return how a number differs from others of its metric: by a letter if only digests distinguish them."""
    parts = []
    for name in ("task_hash", "data"):
        known = list(dict.fromkeys(getattr(other, name) for other in ways))
        if len(known) > 1:
            parts.append(f"{name.partition('_')[0]} {_letter(known.index(getattr(one, name)))}")
    resources = [set(filter(None, other.instruments.split(", "))) for other in ways]
    shared = set.intersection(*resources)
    own = [each for each in one.instruments.split(", ") if each and each not in shared]
    plain = [each.partition("@")[0] for each in own]
    for each, said in zip(own, plain, strict=True):
        same = sorted({other for some in resources for other in some if other.partition("@")[0] == said})
        parts.append(said if len(same) == 1 else f"{said} {_letter(same.index(each))}")
    if len({other.settings for other in ways}) > 1:
        parts.append(one.settings or "no settings")
    return ", ".join(parts) or None


def _letter(place: int) -> str:
    """Return A, B, C ... for the first, second, third variant."""
    return chr(ord("A") + place) if place < 26 else str(place + 1)


_STYLE = """
:root { color-scheme: light dark; --line: #8884; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .25rem; } .made { color: #888; font-size: .85rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; font-size: .85rem; } td.n, th.n { text-align: right; } .wide { overflow-x: auto; }
"""


def leaderboard_html(standings: Sequence[Standing], title: str = "Leaderboard") -> str:
    """Return one page without network: a table for each group of comparable numbers."""
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
        parts.append(_row("th", ["rank", "model", "groups", "value", "95 % interval", "n", "not scored", "run"]))
        parts += [_row("td", _cells(one)) for one in ones]
        parts.append("</table></div>")
    parts.append(f'<p class="made">{html.escape(GROUPS_NOTE)}. Baselines have no rank.</p>')
    return "\n".join([*parts, "</html>", ""])


def _cells(one: Standing) -> list[str]:
    value = "–" if one.value is None else number(one.value)
    rank = "" if one.rank is None else str(one.rank)
    return [rank, one.model, one.apart or "", value, interval(one) or "–", str(one.n), str(one.failed), one.run]


def _row(tag: str, cells: Sequence[str]) -> str:
    numeric = {0, 3, 5, 6}
    marks = [f"<{tag}{' class=n' if i in numeric else ''}>{html.escape(cell)}</{tag}>" for i, cell in enumerate(cells)]
    return f"<tr>{''.join(marks)}</tr>"

"""`creval analyse create-strategies` (Table 15, Figure 3), `create-relations` (Table 4), `create-paths` (Table 12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from creval.plugin import AnalysisOutput, DataError, FieldSpec
from creval_analyses.figures import COLOURS, error_lengths
from creval_create.analysis.numbers import by_query, grouped, paired, summary
from creval_create.analysis.output import OUTPUT, PLOTS, Drawing, Found, finish
from creval_create.analysis.sets import JudgedSet, read_sets
from creval_create.utility.rules import MAIN_PATIENCE, Rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CreatePaths", "CreateRelations", "CreateStrategies"]

_VARIANT = FieldSpec("variant", "string", "paper", "Rules: paper or released.")
_STRATEGIES = ("creative", "verbalized", "iterate", "resample")


def _rules(options: Any) -> Rules:
    return Rules.of(options.get("variant") or "paper")


class CreateStrategies:
    """Kind `analysis`: each prompting strategy next to the base prompt, paired by query, and as bars (Figure 3)."""

    example = "runs/strategies --output figures"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse create-strategies`."""
        return (_VARIANT, OUTPUT, PLOTS)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Compare every strategy in the runs with the base prompt of the same model."""
        rules = _rules(options)
        rows: list[Sequence[Any]] = []
        for model, sets in grouped((one.model, one) for one in read_sets(runs)).items():
            tasks = grouped((one.task, one) for one in sets)
            for base, plain in tasks.items():
                for strategy in _STRATEGIES:
                    if f"{base}_{strategy}" in tasks:
                        rows.append((model, base, strategy, *_comparison(plain, tasks[f"{base}_{strategy}"], rules)))
        if not rows:
            raise DataError(
                "the runs contain no strategy in addition to its base prompt",
                fix="Make them: creval --tasks create_strategies --model MODEL",
            )
        columns = ("model", "base", "strategy", "s base", "s", "difference", "low", "high", "queries", "paths ratio")
        notes = ["s at patience 0.9; differences over the queries that both hold, with a 95 % t interval."]
        found = Found("create-strategies", "CREATE, Table 15", columns, rows, notes, drawing=_bars(rows))
        return finish(found, options)


def _bars(rows: Sequence[Sequence[Any]]) -> Drawing:
    """Draw a group of bars per model and base task: the base prompt, then strategies with intervals."""
    groups = list(dict.fromkeys((row[0], row[1]) for row in rows))
    worth = {(row[0], row[1], row[2]): row[4] for row in rows} | {(row[0], row[1], "original"): row[3] for row in rows}

    reach = {(row[0], row[1], row[2]): error_lengths([row[5]], [row[6]], [row[7]]) for row in rows}

    def draw(axes: Axes) -> None:
        names = ("original", *_STRATEGIES)
        width = 0.8 / len(names)
        for place, name in enumerate(names):
            known = [number for number, group in enumerate(groups) if (*group, name) in worth]
            centres = [number + (place - (len(names) - 1) / 2) * width for number in known]
            heights = [worth[(*groups[number], name)] for number in known]
            if known:
                axes.bar(centres, heights, width, label=name, color=COLOURS[place])
            for number, centre, height in zip(known, centres, heights, strict=True):
                if (*groups[number], name) in reach:
                    axes.errorbar(centre, height, yerr=reach[*groups[number], name], color="black", capsize=2)
        models = [model if len({task for _, task in groups}) == 1 else f"{model}\n{task}" for model, task in groups]
        axes.set_xticks(range(len(groups)), models, fontsize=7)
        axes.set_ylabel("creative utility at patience 0.9")
        axes.set_ylim(0, None)

    return draw


def _comparison(plain: Sequence[JudgedSet], other: Sequence[JudgedSet], rules: Rules) -> Sequence[Any]:
    worths = [by_query([(one.doc, one.worth(rules, MAIN_PATIENCE)) for one in sets]) for sets in (plain, other)]
    shared = worths[0].keys() & worths[1].keys()
    found = paired(*worths)
    sizes = [summary(float(len(one.counted(rules))) for one in sets if one.doc in shared) for sets in (plain, other)]
    ratio = sizes[1].mean / sizes[0].mean if sizes[0].mean and sizes[1].mean is not None else None
    means = [summary(worth[doc] for doc in sorted(shared)).mean for worth in worths]
    return (*means, found.mean, found.low, found.high, found.number, ratio)


class CreateRelations:
    """Kind `analysis`: utility by the source relation of the query (Table 4); our own queries by domain."""

    example = "runs/mine"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse create-relations`."""
        return (_VARIANT, OUTPUT)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Compute a row for each model, task and relation."""
        rules = _rules(options)
        keyed = (
            ((one.model, one.task, str(one.fields.get("relation") or one.fields.get("domain") or "none")), one)
            for one in read_sets(runs)
        )
        rows = [
            (
                *key,
                len({one.doc for one in sets}),
                len({one.fields["entity_a"] for one in sets}),
                *summary((one.worth(rules, MAIN_PATIENCE) for one in sets), high=rules.most(MAIN_PATIENCE))[:4],
                summary(float(len(one.counted(rules))) for one in sets).mean,
            )
            for key, sets in grouped(keyed).items()
        ]
        columns = ("model", "task", "relation", "queries", "unique e1", "s 0.9", "SD", "low", "high", "paths")
        return finish(Found("create-relations", "CREATE by relation", columns, sorted(rows), ()), options)


class CreatePaths:
    """Kind `analysis`: the strongest and the weakest valid paths of each query, with strengths (Table 12)."""

    example = "runs/mine --query ada_lovelace"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse create-paths`."""
        return (
            FieldSpec("query", "string", None, "One query by its id; default: all."),
            FieldSpec("count", "integer", 1, "Paths from each end."),
            OUTPUT,
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """List the paths with a judged strength, best and worst first."""
        count, wanted = int(options.get("count") or 1), options.get("query")
        rows: list[Sequence[Any]] = []
        for one in read_sets(runs):
            if wanted not in (None, one.doc):
                continue
            rules = one.own_rules
            places = [place for place in one.valid(rules.validity) if "class_sizes" in one.paths[place]]
            ranked = sorted(places, key=lambda place: -one.strength(place, rules))
            for place in dict.fromkeys([*ranked[:count], *ranked[-count:]]):
                path = one.paths[place]
                triples = ", ".join(f"({', '.join(triple)})" for triple in path["triples"])
                weakest = max(path["class_sizes"][:-1] or path["class_sizes"])
                true = all(path["factual"])
                rows.append((one.model, one.doc, one.strength(place, rules), weakest, true, path.get("adds"), triples))
        columns = ("model", "query", "strength", "largest class", "factual", "adds", "path")
        return finish(Found("create-paths", "CREATE, Table 12", columns, rows), options)

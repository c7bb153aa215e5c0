"""`creval analyse create-resample`: the utility of k independent answers combined, from the repeats of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from creval import RunOptions
from creval.plugin import AnalysisOutput, DataError, Embedding, FieldSpec, open_runs
from creval_analyses.workbench import Workbench
from creval_create.analysis.numbers import grouped, summary
from creval_create.analysis.output import OUTPUT, PLOTS, CurvePoint, Found, finish, line_plot
from creval_create.analysis.sets import JudgedSet, read_sets
from creval_create.paths.strings import path_string
from creval_create.paths.triples import Path, distinct
from creval_create.utility.distance import cosine_distances, transformed
from creval_create.utility.rules import MAIN_PATIENCE, Rules
from creval_create.utility.utility import utility

__all__ = ["CreateResample"]

_COLUMNS = ("model", "task", "k", "utility", "SD", "low", "high", "queries", "paths")


class CreateResample:
    """Kind `analysis`: with `--repeats 3` a run of `create` contains three independent answers, and so
    `create_resample` for k = 1 to 3 without a further call. Every window of k successive repeats counts
    (the last followed by the first).
    """

    example = "runs/repeated --output figures"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse create-resample`."""
        offline = FieldSpec("offline", "boolean", True, "Do not use the network.")
        return (FieldSpec("variant", "string", "paper", "Rules: paper or released."), offline, OUTPUT, PLOTS)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Combine the repeats of each query and score them."""
        rules = Rules.of(options.get("variant") or "paper")
        sets = read_sets(runs)
        if max(one.repeat for one in sets) == 0:
            raise DataError("no query has more than one answer", fix="Make repeats: --tasks create --repeats 3")
        rows: list[Sequence[Any]] = []
        curves: dict[str, list[CurvePoint]] = {}
        with Workbench(RunOptions(offline=bool(options.get("offline", True)))) as bench:
            embedding = bench.resource_of(open_runs(runs)[0], sets[0].task, "embedding")
            for (model, task), own in grouped(((one.model, one.task), one) for one in sets).items():
                for k, (worths, sizes) in enumerate(_by_k(own, rules, embedding), 1):
                    found = summary(worths, high=rules.most(MAIN_PATIENCE))
                    rows.append((model, task, k, *found, summary(sizes).mean))
                    curves.setdefault(f"{model}, {task}", []).append((k, found.mean or 0.0, found.low, found.high))
        drawing = line_plot(curves, "answers joined", "creative utility at patience 0.9")
        return finish(Found("create-resample", "CREATE, answers joined", _COLUMNS, rows, drawing=drawing), options)


def _by_k(sets: Sequence[JudgedSet], rules: Rules, embedding: Embedding) -> list[tuple[list[float], list[float]]]:
    """Return for k = 1, 2, ... the utility and the number of paths of each query's combined answers."""
    queries = [_Query(group, rules, embedding) for group in grouped((one.doc, one) for one in sets).values()]
    most = min(len(query.answers) for query in queries)
    joined = [[query.joined(k) for query in queries] for k in range(1, most + 1)]
    return [([worth for worth, _ in each], [size for _, size in each]) for each in joined]


class _Query:
    """The answers to one query: the counted paths of each, all embedded once."""

    def __init__(self, sets: Sequence[JudgedSet], rules: Rules, embedding: Embedding) -> None:
        self._rules = rules
        ordered = sorted(sets, key=lambda one: one.repeat)
        self.answers: list[list[tuple[Path, int]]] = [
            [(one.path(place), one.strength(place, rules)) for place in one.counted(rules)] for one in ordered
        ]
        strings = [path_string(path, rules.path_string) for answer in self.answers for path, _ in answer]
        self._row = {string: row for row, string in enumerate(dict.fromkeys(strings))}
        between = cosine_distances(embedding.embed(list(self._row) or ["none"]))
        self._between = transformed(between, rules.over_one)

    def joined(self, k: int) -> tuple[float, float]:
        """Return the mean utility and size over all windows of k successive answers."""
        found = [self._worth(chosen) for chosen in self._windows(k)]
        return sum(worth for worth, _ in found) / len(found), sum(size for _, size in found) / len(found)

    def _windows(self, k: int) -> Iterator[list[tuple[Path, int]]]:
        count = len(self.answers)
        for start in range(count if k < count else 1):
            yield [path for i in range(k) for path in self.answers[(start + i) % count]]

    def _worth(self, chosen: Sequence[tuple[Path, int]]) -> tuple[float, int]:
        kept = [chosen[place] for place in distinct([path for path, _ in chosen])]
        rows = [self._row[path_string(path, self._rules.path_string)] for path, _ in kept]
        distances = self._between[rows][:, rows]
        return utility([quality for _, quality in kept], distances, self._rules, MAIN_PATIENCE), len(kept)

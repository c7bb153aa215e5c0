"""`creval analyse create-trace`: exploration of models in their reasoning (Section 7.3, Table 16)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from creval.plugin import AnalysisOutput, DataError, FieldSpec, open_runs
from creval_analyses.options import open_workbench, part_options
from creval_create.analysis.numbers import summary
from creval_create.analysis.output import OUTPUT, Found, finish
from creval_create.analysis.traces import ROLE, Explored, explore, trace_of

__all__ = ["CreateTrace"]

_EXTRACTOR = "openai/gpt-4.1-mini"
_NAMES = ("relations", "entities", "triples")
_COLUMNS = ("model", "task", "traces", "unread", *_NAMES, *(f"distinct {name}" for name in _NAMES))


class CreateTrace:
    """Kind `analysis`: relations, entities and triples that a model names in its reasoning, raw and distinct.

    A model extracts them (role `extractor`; the paper's is GPT-4.1-mini); their truth is not checked. Entities
    and relations by Prompt G.1; the paper prints no prompt to extract triples, so that prompt is ours.
    """

    example = "runs/thinking --role extractor=openai/gpt-4.1-mini"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse create-trace`."""
        return (*part_options(roles=True), OUTPUT)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Extract from every sample that contains its reasoning."""
        opened = open_runs(runs)
        given = dict(options)
        if not any(str(text).startswith(f"{ROLE}=") for text in given.get("role") or ()):
            given["role"] = [*(given.get("role") or ()), f"{ROLE}={_EXTRACTOR}"]
        bench = open_workbench(given, addressed=ROLE)
        traces = [(run, sample.key, trace) for run in opened for sample in run.samples() if (trace := trace_of(sample))]
        if not traces:
            raise DataError("no sample of the runs shows its reasoning", fix="Name runs of reasoning models.")

        async def every() -> list[Explored | None]:
            return list(await asyncio.gather(*(explore(bench, key, trace) for _, key, trace in traces)))

        explored = bench.work(every)
        found: dict[tuple[str, str], list[Explored | None]] = {}
        for (run, key, _), each in zip(traces, explored, strict=True):
            found.setdefault((run.model, key.task), []).append(each)
        rows = [_row(key, each) for key, each in found.items()]
        models = ", ".join(str(given["role"][i]) for i in range(len(given["role"])))
        notes = [
            f"Means over traces; {models}. Relations and entities by Prompt G.1, triples by a prompt of our own. "
            "unread: the extractor failed or returned nothing readable, and the trace is left out."
        ]
        return finish(Found("create-trace", "CREATE, Table 16", _COLUMNS, rows, notes), options)


def _row(key: tuple[str, str], explored: Sequence[Explored | None]) -> Sequence[Any]:
    read = [each.counts() for each in explored if each is not None]
    means = [summary(float(counts[i]) for counts in read).mean for i in range(6)]
    return (*key, len(read), len(explored) - len(read), *means)

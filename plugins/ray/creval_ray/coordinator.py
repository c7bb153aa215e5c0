"""The run's side of its workers: messages to them, messages from them, and answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from creval.plugin import Sample
from creval.plugin.executors import ItemResult, ScoreSink
from creval.plugin.workers import TARGET, RunContext, read_sample, read_score, sample_data
from creval_ray.broker import Broker
from creval_ray.wire import decode_error, decode_media, decode_stats
from creval_ray.worker_spec import WorkerSpec, make_spec, needs_of, private_of

__all__ = ["Coordinator"]


class Coordinator:
    """Connects the workers of a run with its open parts.

    Everything sent to another process is plain data: `None`, bool, numbers, texts, bytes, lists and mappings.
    """

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._broker = Broker(context.setup)

    @property
    def concurrency(self) -> int:
        """Return the maximum number of concurrent samples."""
        return self._context.concurrency

    @property
    def spec(self) -> WorkerSpec:
        """Return the spec with which a worker opens the run's parts (`open_worker`). It contains no secrets."""
        return make_spec(self._context)

    @property
    def private(self) -> Mapping[str, Any]:
        """Return data besides the spec that may be secret (an address): it must never be logged or stored."""
        return private_of(self._context.setup.options)

    @property
    def needs(self) -> Mapping[str, Mapping[str, int]]:
        """Return what the parts of each task need of their machine, by task: `{"drat": {"gpu": 1}}`."""
        request = self._context.request
        target = request.roles[TARGET] if request.target else ""
        return {plan.task.name: needs_of(self._context.setup, plan.task, target) for plan in self._context.plans}

    def encode_samples(self, samples: Sequence[Sample]) -> Sequence[Mapping[str, Any]]:
        """Return saved samples in the form for `Worker.score`."""
        return [sample_data(sample) for sample in samples]

    def decode_result(self, result: Mapping[str, Any]) -> ItemResult:
        """Return the result of `Worker.make`. Raises the error that ended the sample and the run (BudgetError, ...)."""
        if "raised" in result:
            raise decode_error(result["raised"])
        error = None if result["error"] is None else decode_error(result["error"])
        media = {part.digest: part for part in map(decode_media, result.get("media", ()))}
        return ItemResult(replace(read_sample(json.loads(result["line"])), media=media), error)

    def take_scores(self, result: Mapping[str, Any], scored: ScoreSink) -> None:
        """Pass on the scores of `Worker.score`. Raises the error that ended the scoring (BudgetError, UsageError)."""
        scored([read_score(json.loads(line)) for line in result.get("lines", ())])
        if "raised" in result:
            raise decode_error(result["raised"])

    async def answer(self, worker: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer a worker's question: a slot at a provider, a share of the budget, the answer of another role."""
        return await self._broker.answer(worker, question)

    def notify(self, worker: str, note: Mapping[str, Any]) -> None:
        """Handle a worker's note, which needs no answer: a slot is free again, or money was spent."""
        self._broker.notify(worker, note)

    def update(self, worker: str, status: Mapping[str, Any]) -> None:
        """Process the result of `Worker.status`: the open resources there, and the statistics of its models.

        Raises the error that kept the worker from opening, and UsageError if its resources differ from other workers'.
        """
        if "raised" in status:
            raise decode_error(status["raised"])
        for task, names in status["resources"].items():
            self._context.setup.contexts[task].record_remote(names, worker)
        self._context.record_stats(worker, {role: decode_stats(stats) for role, stats in status["models"].items()})

    def forget(self, worker: str) -> None:
        """Release a lost worker's slots at providers, and the budget reserved for its calls."""
        self._broker.forget(worker)

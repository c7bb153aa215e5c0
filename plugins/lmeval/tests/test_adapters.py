"""Metrics that a task fetches from the Hub: creval's own in their place, or one message."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.lmeval_parity import differences, run_both
from support.lmeval_server import GeneratingServer

from creval import open_run
from creval.errors import DataError
from creval.plugin.programs import Program
from creval_lmeval.adapters import adapted_metrics
from creval_lmeval.code_eval import CodeEval
from creval_lmeval.code_scorer import LmEvalCodeScores
from creval_lmeval.scorer import LmEvalScores
from creval_lmeval.squad import SquadV2

lm_eval = pytest.importorskip("lm_eval", reason="no lm-eval: pip install 'lm-eval==0.4.13' tenacity")


def test_squad_v2_of_a_few_answers_by_hand() -> None:
    rows = [
        ("The kite!", ["a kite", "boat"], 0.1),  # right but for article and sign
        ("an old boat", ["boat"], 0.2),  # precision 1/2, recall 1
        ("", [], 0.9),  # nothing said, nothing to be said
        ("lamp", [], 0.95),  # said, but there is no answer
        ("lamp", ["lamp"], 1.5),  # above the threshold: taken as no answer
        ("gate", ["the"], 0.3),  # the only right answer is an article, which leaves nothing
    ]
    found = SquadV2().compute(
        [
            {"id": str(n), "prediction_text": said, "no_answer_probability": none}
            for n, (said, _, none) in enumerate(rows)
        ],
        [{"id": str(n), "answers": {"text": golden}} for n, (_, golden, _) in enumerate(rows)],
    )
    wanted = {"exact": 2 / 6, "f1": (1 + 2 / 3 + 1) / 6, "HasAns_exact": 1 / 4, "HasAns_f1": (1 + 2 / 3) / 4}
    wanted |= {"NoAns_exact": 1 / 2, "NoAns_f1": 1 / 2, "best_exact": 3 / 6, "best_f1": (3 + 2 / 3) / 6}
    assert {name: found[name] / 100 for name in wanted} == pytest.approx(wanted)
    assert (found["best_exact_thresh"], found["best_f1_thresh"], found["HasAns_total"]) == (0.1, 0.2, 4)


def test_squad_v2_is_run_and_equals_lm_eval_with_the_same_metric(home: Path, server: GeneratingServer) -> None:
    with adapted_metrics():
        both = run_both(["squadv2"], server, home / "squad")
    aggregates, documents, compared = differences(both, "squadv2")
    assert (aggregates <= 1e-9, documents <= 1e-9, compared) == (True, True, 56)
    names = {each["name"] for each in open_run(both.folder).result("squadv2")["metrics"]}
    assert {"exact,none", "best_f1,none", "NoAns_f1,none"} <= names


def test_other_metrics_are_fetched_as_ever_and_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate: Any = pytest.importorskip("evaluate")

    def fetched(path: str) -> str:
        if path == "gone":
            raise ConnectionError("nobody answers")
        return f"fetched {path}"

    monkeypatch.setattr(evaluate, "load", fetched)
    with adapted_metrics():
        assert isinstance(evaluate.load("code_eval"), CodeEval)
        assert evaluate.load("rouge") == "fetched rouge"
        with pytest.raises(DataError, match="the metric 'gone', which comes from the Hub") as raised:
            evaluate.load("gone")
    assert len(str(raised.value).splitlines()) <= 3
    assert evaluate.load is fetched


def test_no_program_begins_once_the_scoring_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise an interrupted run waits for every program of the document."""
    begun: list[Program] = []

    async def go() -> None:
        loop = asyncio.get_running_loop()
        running, free, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

        class Sandbox:
            async def run(self, program: Program, *_: Any) -> Any:
                begun.append(program)
                running.set()
                await free.wait()
                return [SimpleNamespace(succeeded=True)]

        def score(*_: Any) -> None:
            try:
                CodeEval().compute(["", ""], [["1", "2"], ["3"]])
            finally:
                loop.call_soon_threadsafe(ended.set)

        monkeypatch.setattr(LmEvalScores, "score", score)
        context = cast(Any, SimpleNamespace(resource=lambda name: Sandbox()))
        scoring = asyncio.create_task(LmEvalCodeScores("any").score([], context))
        await running.wait()
        scoring.cancel()
        await asyncio.gather(scoring, return_exceptions=True)
        free.set()
        await ended.wait()

    asyncio.run(go())
    assert len(begun) == 1

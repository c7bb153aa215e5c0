"""The scorers on solutions as the protocol leaves them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from creval.plugin import Condition, SampleKey, Score, ScorerInput, Status, UsageError
from creval_openended.entropy.candidate_interval import Step, candidate_interval
from creval_openended.entropy.estimators import entropies
from creval_openended.task.divergence import Divergence
from creval_openended.task.surface import Surface


class Same:
    """Texts entail each other where they begin with the same letter."""

    name = "same-letter"
    asked = 0

    def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        self.asked += len(pairs)
        return np.array([[1.0, 0, 0] if a[0] == b[0] else [0, 1.0, 0] for a, b in pairs]).reshape(-1, 3)


class Letters:
    """Vectors of letter counts."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[text.count(chr(97 + i)) + 0.001 for i in range(26)] for text in texts], dtype=np.float32)


class World:
    """The context of a scorer."""

    seed, task = 3, "t"

    def __init__(self, **resources: Any) -> None:
        self._resources = resources

    def resource(self, name: str) -> Any:
        return self._resources[name]


def step(*texts: str, logprobs: bool = True, complete: bool = False, chosen: int | None = 0) -> dict[str, Any]:
    candidates = [
        {
            "text": text,
            "kind": "usable",
            "finish": "stop",
            "mean": -1.0 if logprobs else None,
            "total": None,
            "tokens": 1,
        }
        for text in texts
    ]
    return {"number": 1, "candidates": candidates, "chosen": None if complete else chosen, "complete": complete}


def sample(*steps: dict[str, Any]) -> ScorerInput:
    key = SampleKey("t", "d", "", 0)
    return ScorerInput(key, {}, Condition("", {}), ["x"], ["x"], {"steps": list(steps)})


def score(*items: ScorerInput, **settings: Any) -> list[Score]:
    return list(asyncio.run(Divergence(**settings).score(items, World(entailment=Same()))))  # type: ignore[arg-type]


def test_a_solution_is_the_mean_over_its_steps() -> None:
    (found,) = score(sample(step("Step 1: ax", "Step 1: bx"), step("ay", "az")))
    assert found.scores["semantic_entropy"] == pytest.approx(math.log(2) / 2)
    assert (found.scores["semantic_entropy_min"], found.scores["semantic_entropy_max"]) == (
        0,
        pytest.approx(math.log(2)),
    )
    assert found.scores["classes"] == 1.5 and found.scores["steps"] == 2
    assert found.details is not None and [each["labels"] for each in found.details["entropy_steps"]] == [[0, 1], [0, 0]]


def test_the_step_at_which_it_was_complete_does_not_count() -> None:
    (found,) = score(sample(step("a", "b"), step("a", "b", "c", complete=True)))
    assert found.scores["steps"] == 1


def test_without_log_probabilities_the_plain_metric_is_absent_and_the_count_is_there() -> None:
    (found,) = score(sample(step("a", "b", logprobs=False)))
    assert "semantic_entropy" not in found.scores and "naive_entropy" not in found.scores
    assert found.scores["semantic_entropy_count"] == pytest.approx(math.log(2))
    assert "log-probabilities" in found.missing["semantic_entropy"].reason
    assert found.missing["naive_entropy"].status is Status.ERRORED


def test_a_solution_without_a_usable_step_says_so() -> None:
    (found,) = score(sample(step(complete=True)))
    assert found.failure == "no step has a usable candidate" and not found.errored


def test_repeated_steps_leave_the_whole_solution_out_where_asked() -> None:
    twice = sample(step("a", "b"), step("a", "c"))
    (kept,) = score(twice)
    (left,) = score(replace(twice, outcome={**twice.outcome, "left_out": "two steps are the same"}))
    assert "semantic_entropy" in kept.scores and kept.details is not None and kept.details["repeated_step"]
    assert set(left.scores) == {"semantic_entropy_unfiltered"}
    assert left.missing["semantic_entropy"] == left.missing["steps"] == (Status.SKIPPED, "two steps are the same")
    assert left.scores["semantic_entropy_unfiltered"] == kept.scores["semantic_entropy"]


def test_steps_of_all_samples_are_judged_together_and_each_pair_once() -> None:
    world = World(entailment=Same())
    items = [sample(step("a", "b")), sample(step("a", "b"))]
    asyncio.run(Divergence().score(items, world))  # type: ignore[arg-type]
    assert world.resource("entailment").asked == 1


def test_an_awaitable_resource_is_awaited() -> None:
    class Slow(Same):
        async def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:  # type: ignore[override]
            await asyncio.sleep(0)
            return Same().predict(pairs)

    found = asyncio.run(Divergence().score([sample(step("a", "b"))], World(entailment=Slow())))  # type: ignore[arg-type]
    assert found[0].scores["classes"] == 2


def test_a_model_of_two_classes_serves_the_strict_rule_alone() -> None:
    class Two(Same):
        classes = 2

    (found,) = asyncio.run(Divergence().score([sample(step("a", "b"))], World(entailment=Two())))  # type: ignore[arg-type]
    assert found.scores["classes"] == 2
    with pytest.raises(UsageError, match="needs to know what contradicts"):
        asyncio.run(Divergence(rule="non_defeating").score([sample(step("a"))], World(entailment=Two())))  # type: ignore[arg-type]


@pytest.mark.parametrize("texts", [("a", "a2", "a3"), ("a", "b", "c"), ("a",)])
def test_equal_or_all_different_candidates_have_no_interval(texts: tuple[str, ...]) -> None:
    (found,) = score(sample(step(*texts)))
    assert found.details is not None and found.details["candidate_interval"] is None


_CANDIDATE = st.tuples(st.integers(0, 9), st.floats(-5, 0))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(_CANDIDATE, min_size=1, max_size=10), min_size=1, max_size=6))
def test_the_interval_over_candidates_holds_its_own_value(drawn: list[list[tuple[int, float]]]) -> None:
    """Whatever the candidates, with log-probabilities and without; and it lies between 0 and the mean of ln n."""
    for weighed in (True, False):
        steps = [Step([c for c, _ in each], [p for _, p in each] if weighed else None) for each in drawn]
        found = [entropies(each.labels, each.logprobs) for each in steps]
        value = float(np.mean([one.count if one.semantic is None else one.semantic for one in found]))
        interval = candidate_interval(steps, value)
        if interval is not None:
            bound = float(np.mean([np.log(len(each.labels)) for each in steps]))
            assert 0 <= interval[0] < value < interval[1] <= bound


def test_the_interval_of_two_even_classes_by_hand() -> None:
    """Of four candidates in two classes each left-out one gives H(1/3): no spread. Of 3 and 1 the jackknife has one."""
    assert candidate_interval([Step([0, 0, 1, 1], None)], np.log(2)) is None

    def h(p: float) -> float:
        return float(-p * np.log(p) - (1 - p) * np.log(1 - p))

    left = np.array([h(1 / 3)] * 3 + [0.0])
    error = np.sqrt(3 / 4 * ((left - left.mean()) ** 2).sum())
    share = h(1 / 4) / np.log(4)
    reach = stats.t.ppf(0.975, 3) * error / np.log(4) / (share * (1 - share))
    expected = np.log(4) / (1 + np.exp(-(np.log(share / (1 - share)) + np.array([-reach, reach]))))
    assert candidate_interval([Step([0, 0, 0, 1], None)], h(1 / 4)) == pytest.approx(tuple(expected))


def test_cosine_among_the_founders_of_classes_alone() -> None:
    world: Any = World(embedding=Letters(), entailment=Same())
    items = [sample(step("aa", "ab", "bb"))]
    (found,) = asyncio.run(Surface(cosine="founders").score(items, world))  # type: ignore[arg-type]
    (plain,) = Surface().score(items, world)  # type: ignore[misc]
    assert found.scores["cosine"] == pytest.approx(0, abs=0.01) and plain.scores["cosine"] > 0.4
    assert found.scores["distinct_1"] == plain.scores["distinct_1"]


def test_surface_measures() -> None:
    items = [sample(step("aa", "bb"), step("aa", "aa")), sample(step("alone"))]
    found: Any = Surface().score(items, World(embedding=Letters()))  # type: ignore[arg-type]
    assert found[0].scores["cosine"] == pytest.approx(0.5, abs=0.01)
    assert found[0].scores["distinct_1"] == pytest.approx(0.75)
    assert "cosine" not in found[1].scores and found[1].scores["distinct_1"] == 1

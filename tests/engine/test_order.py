"""Seeds, subsets and tallies: the same from the seed alone, whatever the order of things."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.engine.planning.seeds import choose, derive, sample_seed
from creval.engine.roles.ledger import UsageTally
from creval.engine.scoring.tally import Grouping, TaskTally
from creval.errors import ScoringError
from creval.types.sample import SampleKey, ScoreRecord, Status

KEY = st.builds(
    SampleKey,
    st.just("t"),
    st.sampled_from(["a", "b", "c", "d10", "d9"]),
    st.sampled_from(["x", "y"]),
    st.integers(0, 3),
)
STATUS = st.sampled_from(list(Status))


@st.composite
def scores(draw):
    keys = draw(st.lists(KEY, unique=True, max_size=20))
    found = []
    for key in keys:
        status = draw(STATUS)
        value = draw(st.floats(-1e3, 1e3)) if status is Status.SCORED else None
        found.append(ScoreRecord(key, status, {} if value is None else {"s": value}))
    return found


def tally_of(given) -> TaskTally:
    tally = TaskTally(["s"], ["x", "y"])
    for score in given:
        tally.add(score)
    return tally


@given(scores(), st.randoms(), st.sampled_from([None, 0.0, -5.0]), st.sampled_from([None, 0, 1]))
def test_the_order_of_samples_changes_nothing(given, shuffle, zero, condition):
    other = list(given)
    shuffle.shuffle(other)
    first, second = (tally_of(some).clusters("s", zero, condition) for some in (given, other))
    assert [list(cluster) for cluster in first[0]] == [list(cluster) for cluster in second[0]]
    assert first[1] == second[1]
    assert tally_of(given).errors == tally_of(other).errors


@given(scores(), st.sampled_from([None, 0]))
def test_every_sample_is_counted_once_and_failures_by_policy(given, condition):
    tally = tally_of(given)
    chosen = [score for score in given if condition is None or score.key.condition == "x"]
    counts = tally.counts(30, condition)
    assert counts.total == 30
    for status in Status:
        expected = sum(score.status is status for score in chosen) + (30 - len(chosen)) * (status is Status.SKIPPED)
        assert getattr(counts, status.value) == expected
    failures = {Status.UNPARSED, Status.TRUNCATED, Status.REFUSED}
    zeroed, failed = tally.clusters("s", 0.0, condition)
    left_out, failed_too = tally.clusters("s", None, condition)
    assert failed == failed_too == sum(score.status in failures for score in chosen)
    assert len(left_out.values) == sum(score.status is Status.SCORED for score in chosen)
    assert len(zeroed.values) == len(left_out.values) + failed


def test_a_number_that_is_none_is_refused_with_the_sample_s_name():
    with pytest.raises(ScoringError, match=r"\('t', 'a', 'x', 0\) is nan"):
        tally_of([ScoreRecord(SampleKey("t", "a", "x", 0), Status.SCORED, {"s": float("nan")})])


def test_a_failure_that_a_scorer_values_counts_with_that_value():
    tally = tally_of([ScoreRecord(SampleKey("t", "a", "x", 0), Status.UNPARSED, {"s": 17.0})])
    for zero in (0.0, None):
        clusters, failed = tally.clusters("s", zero)
        assert (list(clusters.values), failed) == ([17.0], 1)


@given(st.lists(st.floats(0, 1e3), max_size=30), st.randoms())
def test_the_cost_does_not_depend_on_the_order(costs, shuffle):
    def total(some):
        tally = UsageTally()
        for cost in some:
            reply = {"usage": {"input_tokens": 1, "output_tokens": 2}, "cost": cost}
            tally.add({"calls": [{"role": "target", "kept": 0, "messages": [], "reply": reply}]})
        return tally.cost, tally.calls, tally.usage

    other = list(costs)
    shuffle.shuffle(other)
    assert total(costs) == total(other)


@given(st.integers(1, 300), st.integers(0, 300), st.integers(0, 2**40))
def test_a_subset_is_random_repeatable_and_holds_the_smaller_ones(count, limit, seed):
    chosen = choose(count, limit, seed, "t")
    assert chosen == sorted(set(chosen)) == choose(count, limit, seed, "t")
    assert len(chosen) == min(limit, count)
    assert set(choose(count, limit // 2, seed, "t")) <= set(chosen)


def test_subsets_are_fair():
    """Each of 10 docs in a subset of 3: 300 of 1,000 seeds, within five standard errors."""
    hits = [0] * 10
    for seed in range(1_000):
        for index in choose(10, 3, seed, "t"):
            hits[index] += 1
    assert all(abs(hit - 300) < 5 * (1_000 * 0.3 * 0.7) ** 0.5 for hit in hits)


def test_seeds_are_pinned():
    """The same on every machine and Python; the first two by sha256sum, e.g. of `1\\x1fa`, its first 8 bytes halved."""
    assert derive(1, "a") == 6148644138517888281
    assert sample_seed(1, SampleKey("t", "d", "default", 0)) == 774136850377472652
    assert choose(100, 5, 7, "t") == [0, 5, 17, 77, 83]


@given(KEY, KEY)
def test_every_sample_has_a_seed_of_its_own(one, other):
    assert (sample_seed(3, one) == sample_seed(3, other)) == (one == other)
    assert random.Random(sample_seed(3, one)).random() == random.Random(sample_seed(3, one)).random()


def test_samples_without_a_weight_are_left_out_of_a_weighted_metric():
    tally = TaskTally(["share", "count"], ["default"])
    for number, scores in enumerate(({"share": 0.5, "count": 4.0}, {"share": 1.0}, {"share": 1.0, "count": 0.0})):
        tally.add(ScoreRecord(SampleKey("t", str(number), "default", 0), Status.SCORED, scores))
    clusters, _ = tally.clusters("share", None, None, Grouping(weight="count"))
    assert clusters.values.tolist() == [0.5] and clusters.weights.tolist() == [4.0]

"""Bootstrap intervals: the batched draws equal the plain computation, and the seed fixes them."""

from __future__ import annotations

import numpy as np
import pytest

from creval.errors import UsageError
from creval_validity.stats.bootstrap import Bootstrap, bootstrap_intervals, resampled
from creval_validity.stats.correlation import specificity, validity
from creval_validity.stats.moments import batch_correlations
from creval_validity.stats.sample import PairedSample


def sample(seed: int = 0, n: int = 30, k: int = 2) -> PairedSample:
    rng = np.random.default_rng(seed)
    g = rng.normal(size=(n, k)) * [100.0, 0.1][:k] + [1300.0, 0.7][:k]
    y = g[:, 0] / 100 + rng.normal(size=n)
    return PairedSample(y + rng.normal(size=n), y, g)


def test_a_batch_equals_one_by_one() -> None:
    samples = [sample(seed) for seed in range(6)]
    v, s = batch_correlations(np.stack([np.column_stack([o.x, o.y, o.controls]) for o in samples]))
    assert v == pytest.approx([validity(one).r for one in samples])
    assert s == pytest.approx([specificity(one).r for one in samples])


def test_each_draw_is_the_correlation_of_the_models_drawn() -> None:
    one = sample(n=12)
    v, s = resampled(one, Bootstrap(draws=100, seed=5))
    rows = np.random.default_rng(5).integers(0, 12, size=(100, 12))
    for draw in (0, 1, 57, 99):
        again = PairedSample(one.x[rows[draw]], one.y[rows[draw]], one.controls[rows[draw]])
        assert v[draw] == pytest.approx(validity(again).r)
        assert s[draw] == pytest.approx(specificity(again).r)


def test_the_seed_fixes_the_interval() -> None:
    first = bootstrap_intervals(sample(), Bootstrap(draws=300, seed=1))
    assert first == bootstrap_intervals(sample(), Bootstrap(draws=300, seed=1))
    assert first != bootstrap_intervals(sample(), Bootstrap(draws=300, seed=2))


def test_the_interval_holds_the_estimate_and_nears_fisher() -> None:
    one = sample(n=60)
    v, s = bootstrap_intervals(one, Bootstrap(draws=4000, seed=0))
    assert v is not None
    assert s is not None
    found = validity(one)
    assert v.low < found.r < v.high
    assert s.low < specificity(one).r < s.high
    assert v.low == pytest.approx(found.fisher.low, abs=0.12)
    assert v.high == pytest.approx(found.fisher.high, abs=0.12)
    assert v.draws == 4000


def test_chunks_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = resampled(sample(), Bootstrap(draws=250, seed=3))
    monkeypatch.setattr("creval_validity.stats.bootstrap._CHUNK", 30 * 5 * 7)
    parts = resampled(sample(), Bootstrap(draws=250, seed=3))
    assert np.array_equal(whole[0], parts[0])
    assert np.array_equal(whole[1], parts[1])


def test_draws_without_spread_are_left_out() -> None:
    """Of four models one differs on x; a third of the draws miss it and have no correlation."""
    one = PairedSample(np.array([0.0, 0, 0, 1]), np.array([1.0, 2, 3, 5]))
    v, _ = resampled(one, Bootstrap(draws=2000, seed=0))
    missing = np.isnan(v).mean()
    assert missing == pytest.approx((3 / 4) ** 4 + (1 / 4) ** 4, abs=0.04)
    interval = bootstrap_intervals(one, Bootstrap(draws=2000, seed=0))[0]
    assert interval is not None
    assert interval.draws == int((~np.isnan(v)).sum())


@pytest.mark.parametrize("draws", [0, 99, 1_000_001])
def test_absurd_numbers_of_draws(draws: int) -> None:
    with pytest.raises(UsageError, match="bootstrap draws"):
        Bootstrap(draws=draws)

"""Quantiles of Student's t and of the beta distribution for single numbers, without importing SciPy.

Importing `scipy.special` takes several tenths of a second, most of the time of a run of one sample, and every interval
needs one of these two functions. They agree with SciPy to 1e-12 (relative) and are meant for some dozens of calls.
"""

from __future__ import annotations

import math

__all__ = ["beta_cdf", "beta_quantile", "t_quantile"]

_TINY = 1e-300
_EPSILON = 1e-16
_MOST_TERMS = 200_000  # about 6 sqrt(a + b) are needed near the mean
_MOST_STEPS = 400  # of a search that at worst halves its bracket
_HALF_LOG_2PI = 0.918938533204672741780329736406
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_SHORT = 2_000.0  # the series needs about this many terms
_LARGE = 10.0  # from here on Stirling's series is exact to the last digit


def t_quantile(freedom: float, confidence: float) -> float:
    """Return the t with a share `confidence` (0 to 1) between -t and t; NaN where `freedom` is not above 0."""
    if not freedom > 0:
        return math.nan
    if math.isinf(freedom):
        return _normal_quantile((1 + confidence) / 2)
    inside = beta_quantile(0.5, freedom / 2, confidence)  # t^2 / (freedom + t^2)
    if inside < 0.5:
        return math.sqrt(freedom * inside / (1 - inside))
    outside = beta_quantile(freedom / 2, 0.5, 1 - confidence)
    return math.sqrt(freedom * (1 - outside) / outside)


def beta_quantile(a: float, b: float, share: float) -> float:
    """Return the x (0 to 1) with I_x(a, b) = `share`: the inverse of the regularised incomplete beta function.

    Newton's steps with Halley's correction, kept inside a bracket that is halved where a step leaves it.
    """
    if share <= 0 or share >= 1:
        return float(share >= 1)
    low, high, log_beta = 0.0, 1.0, _log_beta(a, b)
    if math.log(share * a) + log_beta < a * math.log(_TINY):
        return 0.0
    x = _first_guess(a, b, share, log_beta)
    for _ in range(_MOST_STEPS):
        error = beta_cdf(a, b, x) - share
        if error == 0:
            break
        low, high = (x, high) if error < 0 else (low, x)
        density = math.exp(min(700.0, (a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - log_beta))
        step = error / density if density > 0 else math.inf
        bend = 1 - min(1.0, step * ((a - 1) / x - (b - 1) / (1 - x))) / 2 if math.isfinite(step) else 1.0
        new = x - step / bend
        if not low < new < high:
            new = (low + high) / 2 if low > 0 else high / 8
        if abs(new - x) <= 1e-15 * x:
            return new
        x = new
    return x


def beta_cdf(a: float, b: float, x: float) -> float:
    """Return I_x(a, b), the share (0 to 1) of the beta distribution below `x`."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    factor = _power_term(a, b, x)
    if x < 0.01 and (a + b) * x < _SHORT:
        return factor * _series(a, b, x) / a
    if x < (a + 1) / (a + b + 2):
        return factor * _continued_fraction(a, b, x) / a
    return 1 - factor * _continued_fraction(b, a, 1 - x) / b


def _first_guess(a: float, b: float, share: float, log_beta: float) -> float:
    """Start from the power that dominates near an end, or from the normal distribution elsewhere."""
    mean, spread = a / (a + b), math.sqrt(a * b / (a + b + 1)) / (a + b)
    guess = mean + _normal_quantile(share) * spread
    if a < 2 and (guess < mean / 4 or a < 1):
        guess = math.exp(min(0.0, (math.log(share * a) + log_beta) / a))
    if b < 2 and guess >= 1:
        guess = 1 - math.exp(min(0.0, (math.log((1 - share) * b) + log_beta) / b))
    return min(max(guess, mean * 1e-3 if a >= 1 else _TINY), 1 - 1e-12)


def _series(a: float, b: float, x: float) -> float:
    """2F1(a + b, 1; a + 1; x), all terms positive (DLMF 8.17.8): exact even if 1 - x would lose the digits of x."""
    term = value = 1.0
    place = 0
    while term > _EPSILON * value:
        term *= (a + b + place) * x / (a + 1 + place)
        value += term
        place += 1
    return value


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Lentz's evaluation of the continued fraction of I_x(a, b) (DLMF 8.17.22)."""
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1 / _away_from_zero(1 + even * d), _away_from_zero(1 + even / c)
        value *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / _away_from_zero(1 + odd * d), _away_from_zero(1 + odd / c)
        value *= d * c
        if abs(d * c - 1) <= _EPSILON:
            break
    return value


def _away_from_zero(number: float) -> float:
    return number if abs(number) > _TINY else _TINY


def _power_term(a: float, b: float, x: float) -> float:
    """x^a (1 - x)^b / B(a, b), arranged so that no large logarithms cancel."""
    if min(a, b) < _LARGE:
        return math.exp(a * math.log(x) + b * math.log1p(-x) - _log_beta(a, b))
    total = a + b
    beyond = total * x - a  # its rounding errors cancel in the two terms
    exponent = a * _log_one_plus(beyond / a, x * total / a) + b * _log_one_plus(-beyond / b, (1 - x) * total / b)
    exponent -= _correction(a, b)
    return math.exp(exponent) * math.sqrt(a * b / total / (2 * math.pi))


def _log_one_plus(difference: float, ratio: float) -> float:
    return math.log(ratio) if difference < -0.5 else math.log1p(difference)


def _log_beta(a: float, b: float) -> float:
    """The logarithm of B(a, b), to full precision relative to 1 for large arguments too."""
    small, large = min(a, b), max(a, b)
    ratio = small / (small + large)
    if small >= _LARGE:
        return (
            _HALF_LOG_2PI
            - math.log(large) / 2
            + _correction(small, large)
            + (small - 0.5) * math.log(ratio)
            + large * math.log1p(-ratio)
        )
    if large >= _LARGE:
        rest = _remainder(large) - _remainder(small + large) + small - small * math.log(small + large)
        return math.lgamma(small) + rest + (large - 0.5) * math.log1p(-ratio)
    return math.lgamma(small) + math.lgamma(large) - math.lgamma(small + large)


def _correction(a: float, b: float) -> float:
    return _remainder(a) + _remainder(b) - _remainder(a + b)


def _remainder(number: float) -> float:
    """The remainder of Stirling's formula for log Gamma, for numbers from 10 on."""
    return sum(factor / number ** (2 * power + 1) for power, factor in enumerate(_STIRLING))


def _normal_quantile(share: float) -> float:
    from statistics import NormalDist  # not at the top: a run of one sample has no interval

    return NormalDist().inv_cdf(share)

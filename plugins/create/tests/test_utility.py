"""Strength, distance and creative utility: worked values, the identity of the two discounts, exact against greedy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval_create.utility.distance import cosine_distances, mean_distance, transformed
from creval_create.utility.exact import exact_utility
from creval_create.utility.greedy import greedy
from creval_create.utility.rules import Rules
from creval_create.utility.strength import path_strength, triple_strength
from creval_create.utility.utility import bound, utilities, utility

EQUATION, RELEASED = Rules(), Rules.of("released")


def matrix(count: int, **pairs: float) -> np.ndarray:
    """Distances from keywords such as d12=0.25."""
    found = np.zeros((count, count))
    for name, value in pairs.items():
        i, j = int(name[1]) - 1, int(name[2]) - 1
        found[i, j] = found[j, i] = value
    return found


def test_class_sizes_become_strengths() -> None:
    sizes = {0: 5, 10: 5, 11: 4, 99: 4, 100: 3, 499: 3, 500: 2, 4999: 2, 5000: 1, 10**30: 1}
    assert {size: triple_strength(size) for size in sizes} == sizes


def test_the_last_triple_is_left_out_unless_it_is_the_only_one() -> None:
    assert path_strength([20, 150, 20_000]) == 3
    assert path_strength([20, 150, 20_000], "counted") == 1
    assert path_strength([20_000]) == path_strength([20_000], "counted") == 1


def test_the_transformed_distance() -> None:
    x = [0.0, 0.1307, 0.3262, 0.4043, 0.5778, 0.7, 0.7058, 0.7952, 1.0]
    g = [0.0, 0.0030, 0.1119, 0.2503, 0.7696, 1.0, 1.0, 1.0, 1.0]
    assert transformed(np.array(x)) == pytest.approx(g, abs=2e-4)
    over = np.array([1.05])
    assert transformed(over, "clamp") == [1.0]
    assert transformed(over, "wrap") == pytest.approx([0.5 * (1 - math.cos(math.pi * 2.25))])


def test_eq_1_by_hand() -> None:
    distances = matrix(3, d12=0.25, d13=1.0, d23=0.5)
    qualities = [5, 4, 3]
    assert greedy(qualities, distances).order == [0, 2, 1]
    for patience, worth in ((0.9, 8.51), (0.7, 7.59 - 0.0), (0.0, 5.0), (1.0, 9.0)):
        assert utility(qualities, distances, EQUATION, patience) == pytest.approx(worth, abs=0.005)
        assert exact_utility(qualities, distances, patience) == pytest.approx(worth, abs=0.005)
    assert utility(qualities, distances, RELEASED, 0.9) == pytest.approx(8.90)


def test_where_greedy_is_not_the_best() -> None:
    distances = matrix(3, d12=0.1, d13=0.1, d23=1.0)
    assert utility([5, 4, 4], distances, EQUATION, 0.9) == pytest.approx(5.684)
    assert exact_utility([5, 4, 4], distances, 0.9) == pytest.approx(8.005)


def test_an_empty_set() -> None:
    nothing = np.zeros((0, 0))
    assert utility([], nothing, EQUATION, 0.9) == exact_utility([], nothing, 0.9) == 0
    assert utility([], nothing, RELEASED, 0.9) == 1
    assert mean_distance(nothing) is None and mean_distance(np.zeros((1, 1))) is None


def test_the_variant_sets_four_rules_and_single_ones_can_be_changed() -> None:
    assert RELEASED.named() == {
        "validity": "released",
        "last_triple": "left_out",
        "path_string": "left_out",
        "discount": "released",
        "empty_set": "one",
        "over_one": "wrap",
        "order": "first",
    }
    mixed = Rules.of("released", over_one="clamp", validity=None)
    assert (mixed.over_one, mixed.validity) == ("clamp", "released")


@st.composite
def sets(draw: st.DrawFn, most: int = 7) -> tuple[list[int], np.ndarray]:
    count = draw(st.integers(1, most))
    qualities = draw(st.lists(st.integers(1, 5), min_size=count, max_size=count))
    values = st.floats(0, 1) | st.sampled_from([0.0, 0.25, 1.0])
    distances = np.zeros((count, count))
    for i, j in itertools.combinations(range(count), 2):
        distances[i, j] = distances[j, i] = draw(values)
    return qualities, distances


PATIENCE = st.sampled_from([0.0, 0.1, 0.5, 0.7, 0.9, 1.0])


@given(sets())
def test_several_patiences_at_once(made: tuple[list[int], np.ndarray]) -> None:
    for rules in (EQUATION, RELEASED, Rules(order="best_start")):
        one_by_one = [utility(*made, rules, patience) for patience in (0.7, 0.9, 1.0)]
        assert utilities(*made, rules, (0.7, 0.9, 1.0)) == pytest.approx(one_by_one)


@given(sets(), PATIENCE)
def test_the_identity_of_the_two_discounts(made: tuple[list[int], np.ndarray], patience: float) -> None:
    qualities, distances = made
    most = max(qualities)
    released = utility(qualities, distances, RELEASED, patience)
    assert utility(qualities, distances, EQUATION, patience) == pytest.approx(most + patience * (released - most))


@given(sets(5), PATIENCE)
def test_exact_is_the_maximum_over_all_orders(made: tuple[list[int], np.ndarray], patience: float) -> None:
    qualities, distances = made

    def worth(order: tuple[int, ...]) -> float:
        total = 0.0
        for place, own in enumerate(order):
            nearest = min((distances[own, before] for before in order[:place]), default=1.0)
            total += patience**place * qualities[own] * nearest
        return total

    best = max(map(worth, itertools.permutations(range(len(qualities)))))
    assert exact_utility(qualities, distances, patience) == pytest.approx(best)


@given(sets(), PATIENCE)
def test_greedy_lies_between_its_best_start_and_exact(made: tuple[list[int], np.ndarray], patience: float) -> None:
    qualities, distances = made
    first = utility(qualities, distances, EQUATION, patience)
    best_start = utility(qualities, distances, Rules(order="best_start"), patience)
    exact = exact_utility(qualities, distances, patience)
    assert max(qualities) - 1e-9 <= first <= best_start + 1e-9
    assert best_start <= exact + 1e-9 <= bound(len(qualities), patience) + 2e-9


@given(sets(), st.randoms(use_true_random=False))
def test_the_best_start_depends_less_on_the_models_order(made: tuple[list[int], np.ndarray], random: object) -> None:
    """Where no later step is tied, the value is that of every order."""
    qualities, distances = made
    if len({round(float(x), 12) for x in distances[np.triu_indices(len(qualities), 1)]}) < math.comb(len(qualities), 2):
        return
    if len(set(qualities)) < len(qualities):
        return
    order = list(range(len(qualities)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = utility([qualities[i] for i in order], distances[np.ix_(order, order)], EQUATION, 0.9)
    assert shuffled == pytest.approx(utility(qualities, distances, EQUATION, 0.9))


def test_a_repeated_path_adds_nothing() -> None:
    rows = np.random.default_rng(1).normal(size=(4, 8))
    once = transformed(cosine_distances(rows))
    twice = transformed(cosine_distances(np.vstack([rows, rows[2:3]])))
    qualities = [5, 3, 4, 2]
    assert utility([*qualities, 4], twice, EQUATION, 0.9) == pytest.approx(utility(qualities, once, EQUATION, 0.9))

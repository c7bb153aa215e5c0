"""The posterior is the one that the rule implies: by brute force over every way in which results can come about."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kumo_games import EASY, games

from creval.errors import UsageError
from creval_kumo.domains.domain import Interval, State
from creval_kumo.domains.faults import DomainError
from creval_kumo.games.belief import attainable, expected_success, likelihood, most_probable, posterior
from creval_kumo.games.instance import GameAction, Instance
from creval_kumo.games.observing import observe_by_chance
from creval_kumo.games.reliability import exact_reliability, percent
from creval_kumo.games.stream import Stream

RELIABILITIES = (0.05, 0.3, 0.5, 0.8, 0.9375, 0.9999)


def made_game(exclusions: list[list[set[int]]], shown: list[int], n_truths: int, reliability: float = 0.8) -> Instance:
    """A game by numbers: outcome s of action a speaks against `exclusions[a][s]`; action a shows `shown[a]`."""
    truths = tuple(f"T{number}" for number in range(n_truths))
    actions = []
    for place, outcomes in enumerate(exclusions):
        states: list[State] = [Interval(2.0 * i, 2.0 * i + 1) if place % 2 else f"s{i}" for i in range(len(outcomes))]
        pairs = [(state, frozenset(f"T{n}" for n in out)) for state, out in zip(states, outcomes, strict=True)]
        actions.append(GameAction(f"A{place}", "", "", tuple(pairs)))
    observations = {f"A{a}": 2.0 * place + 0.5 if a % 2 else f"s{place}" for a, place in enumerate(shown)}
    return Instance("made", 0, truths, tuple(actions), observations, ("T0",), reliability=reliability)


@st.composite
def chance_games(draw: st.DrawFn) -> Instance:
    """Any game of two to four truths and up to three actions whose outcomes spare every truth somewhere."""
    n_truths = draw(st.integers(2, 4))
    exclusions = []
    for _ in range(draw(st.integers(1, 3))):
        outcomes = draw(st.lists(st.sets(st.integers(0, n_truths - 1)), min_size=1, max_size=3))
        for truth in set.intersection(*outcomes):
            outcomes[draw(st.integers(0, len(outcomes) - 1))].discard(truth)
        exclusions.append(outcomes)
    shown = [draw(st.integers(0, len(outcomes) - 1)) for outcomes in exclusions]
    return made_game(exclusions, shown, n_truths, draw(st.sampled_from(RELIABILITIES)))


def draws(action: GameAction, truth: str, reliability: Fraction) -> Iterator[tuple[int, Fraction]]:
    """Every way in which an action's result comes about, with its chance: first the coin, then the choice."""
    spared = [place for place, (_, against) in enumerate(action.outcomes) if truth not in against]
    for place in spared:
        yield place, reliability / len(spared)
    for place in range(len(action.outcomes)):
        yield place, (1 - reliability) / len(action.outcomes)


def joint(game: Instance) -> Counter[tuple[str, tuple[int, ...]]]:
    """The probability of each (valid truth, outcomes of all actions), by going through all ways."""
    exact = exact_reliability(game.reliability)
    table: Counter[tuple[str, tuple[int, ...]]] = Counter()
    for truth in game.truths:
        for story in itertools.product(*(list(draws(action, truth, exact)) for action in game.actions)):
            chance = Fraction(1, len(game.truths))
            for _, of_action in story:
                chance *= of_action
            table[truth, tuple(place for place, _ in story)] += chance  # type: ignore[assignment]
    return table


def shown(game: Instance) -> list[int]:
    return [action.matching(game.observations[action.name])[0] for action in game.actions]


@given(chance_games(), st.data())
def test_the_posterior_is_that_of_brute_force(game: Instance, data: st.DataObject) -> None:
    taken = data.draw(st.lists(st.sampled_from(game.action_names), max_size=5))
    places, table = shown(game), joint(game)
    assert sum(table.values()) == 1
    agreeing: Counter[str] = Counter()
    for (truth, outcomes), chance in table.items():
        if all(outcomes[i] == places[i] for i, name in enumerate(game.action_names) if name in taken):
            agreeing[truth] += chance
    total = sum(agreeing.values())
    assert posterior(game, taken) == {truth: agreeing[truth] / total for truth in game.truths}


@given(chance_games())
def test_expected_success_is_that_of_brute_force(game: Instance) -> None:
    best: dict[tuple[int, ...], Fraction] = {}
    for (_, outcomes), chance in joint(game).items():
        best[outcomes] = max(best.get(outcomes, Fraction(0)), Fraction(chance))
    assert expected_success(game) == sum(best.values())


@given(chance_games())
def test_more_evidence_helps_before_it_is_seen(game: Instance) -> None:
    """Though single results may lower the highest probability, no action makes the best player worse."""
    fewer = replace(game, actions=game.actions[1:])
    assert Fraction(1, len(game.truths)) <= expected_success(fewer) <= expected_success(game) <= 1


@given(chance_games(), st.data())
def test_probabilities_sum_to_one_whatever_the_order_and_the_repeats(game: Instance, data: st.DataObject) -> None:
    taken = data.draw(st.lists(st.sampled_from(game.action_names), max_size=5))
    beliefs = posterior(game, taken)
    assert sum(beliefs.values()) == 1
    assert list(beliefs) == list(game.truths)
    assert all(0 < belief <= 1 for belief in beliefs.values())
    assert posterior(game, data.draw(st.permutations([*taken, *taken]))) == beliefs
    assert set(posterior(game, []).values()) == {Fraction(1, len(game.truths))}


@given(chance_games())
def test_the_results_of_an_action_have_probabilities(game: Instance) -> None:
    exact = exact_reliability(game.reliability)
    for action, truth in itertools.product(game.actions, game.truths):
        chances = [likelihood(action, place, truth, exact) for place in range(len(action.outcomes))]
        assert sum(chances) == 1
        against = [chance for chance, (_, out) in zip(chances, action.outcomes, strict=True) if truth in out]
        spared = [chance for chance, (_, out) in zip(chances, action.outcomes, strict=True) if truth not in out]
        assert not against or max(against) < min(spared)


def test_a_posterior_reckoned_by_hand() -> None:
    """A0 has two results, one against T0: P(s0 | T0) = .2/2, P(s0 | T1) = .8/2 + .2/2. A1 says nothing."""
    game = made_game([[{0}, set()], [set(), set(), set()]], [0, 2], n_truths=2)
    assert posterior(game, ["A0"]) == {"T0": Fraction(1, 6), "T1": Fraction(5, 6)}
    assert posterior(game, ["A0", "A1"]) == posterior(game, ["A0"])
    assert (most_probable(posterior(game, ["A0"])), most_probable(posterior(game, ["A1"]))) == (("T1",), ("T0", "T1"))
    assert attainable(game) == Fraction(5, 6)
    # before anything is seen: s0 (1/2 (1/10 + 1/2)) shows T1, s1 (1/2 (9/10 + 1/2)) shows T0
    assert expected_success(game) == Fraction(1, 2) * Fraction(1, 2) + Fraction(1, 2) * Fraction(9, 10)


def test_observations_are_drawn_as_the_rule_says() -> None:
    """6,000 draws of one action: the share of each result, by valid truth, within 4.5 standard errors of P(o | t)."""
    game = made_game([[{0}, {0, 1}, set(), {2}]], [0], n_truths=3, reliability=0.7)
    (action,) = game.actions
    counts: Counter[tuple[str, int]] = Counter()
    for number in range(6000):
        drawn = observe_by_chance(game, 0.7, Stream("test", number))
        counts[drawn.valid_truths[0], action.matching(drawn.observations["A0"])[0]] += 1
    assert len(counts) == 12
    for truth in game.truths:
        total = sum(counts[truth, place] for place in range(4))
        assert abs(total - 2000) < 4.5 * (6000 * (1 / 3) * (2 / 3)) ** 0.5
        for place in range(4):
            chance = float(likelihood(action, place, truth, Fraction(7, 10)))
            assert abs(counts[truth, place] - total * chance) < 4.5 * (total * chance * (1 - chance)) ** 0.5


def test_a_number_shown_lies_inside_the_interval_drawn() -> None:
    game = made_game([[set()], [{0}, {1}, set()]], [0, 0], n_truths=2)
    for number in range(50):
        drawn = observe_by_chance(game, 0.8, Stream("inside", number))
        assert len(game.actions[1].matching(drawn.observations["A1"])) == 1


def test_certain_games_have_no_probabilities() -> None:
    for ask in (lambda game: posterior(game, []), attainable, expected_success):
        with pytest.raises(UsageError, match="results of this game are certain") as caught:
            ask(games("medical", EASY, 1)[0])
        assert "kumo" in str(caught.value.fix)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"valid_truths": ("T0", "T1")}, "exactly one of the truths must be valid"),
        ({"valid_truths": ("T9",)}, "exactly one of the truths must be valid"),
        ({"observations": {"A0": "else", "A1": 0.5}}, "the observation of 'A0' shows none of its outcomes"),
        ({"reliability": 0}, "not a number above 0"),
        ({"reliability": -0.5}, "not a number above 0"),
        ({"reliability": 1.5}, "not a number above 0"),
        ({"reliability": float("nan")}, "not a number above 0"),
        ({"reliability": "0.8"}, "not a number above 0"),
        ({"reliability": 1.0001}, "not a number above 0"),
        ({"reliability": 0.12345}, "more than 4 decimals"),
    ],
)
def test_games_that_make_no_sense_are_refused(change: dict[str, object], said: str) -> None:
    game = made_game([[{0}, {1}], [set(), {0}]], [0, 0], n_truths=2)
    game.check()
    with pytest.raises(DomainError, match=said):
        posterior(replace(game, **change), ["A0"])  # type: ignore[arg-type]


def test_an_action_that_speaks_against_a_truth_whatever_it_shows_is_refused() -> None:
    """S_a(t) would be empty, and the rule would say nothing."""
    with pytest.raises(DomainError, match="every outcome of 'A0' rules out 'T1'"):
        made_game([[{1}, {0, 1}]], [0], n_truths=2).check()
    shared = replace(made_game([[set()], [set(), {0}]], [0, 0], 2), observations={"A0": "s0", "A1": 1.0})
    touching = replace(shared.actions[1], outcomes=((Interval(0, 1), frozenset()), (Interval(1, 2), frozenset({"T0"}))))
    with pytest.raises(DomainError, match="shows 2 of its outcomes instead of one"):
        replace(shared, actions=(shared.actions[0], touching)).check()


def test_a_reliability_is_taken_as_it_is_written() -> None:
    assert exact_reliability(0.8) == Fraction(4, 5) != Fraction(0.8)
    assert [percent(exact_reliability(value)) for value in (0.8, 0.125, 0.0001, 0.9999, 1)] == [
        "80%", "12.5%", "0.01%", "99.99%", "100%",
    ]  # fmt: skip
    for seed in range(200):
        value = round(random.Random(seed).uniform(0.0001, 1), 4)
        assert exact_reliability(value) * 10_000 == round(value * 10_000)
    for wrong in (0, 1.5, True, "1", None):
        with pytest.raises(UsageError, match="not a number above 0 and up to 1"):
            exact_reliability(wrong)  # type: ignore[arg-type]

"""Domains, settings and games for the tests: shipped ones and random small ones."""

from __future__ import annotations

from functools import cache
from itertools import islice

from hypothesis import strategies as st

from creval_kumo.domains import PAPER_DOMAINS, load_domain
from creval_kumo.domains.domain import Action, Domain, Interval, Noun, Outcome, State, Truth
from creval_kumo.games.generation import Settings, generate
from creval_kumo.games.instance import Instance

EASY, HARD = Settings(4, 6), Settings(12, 16)


@cache
def games(domain: str, settings: Settings = EASY, count: int = 5, seed: int = 1) -> tuple[Instance, ...]:
    """The first games of a shipped domain."""
    return tuple(islice(generate(load_domain(domain), settings, seed), count))


def some_games(settings: Settings = EASY, count: int = 3) -> list[Instance]:
    """Games of the five domains that the paper has, too."""
    return [game for name in PAPER_DOMAINS for game in games(name, settings, count)]


def make_domain(exclusions: list[list[set[int]]], n_truths: int, floats: frozenset[int] = frozenset()) -> Domain:
    """A domain by numbers: `exclusions[a][s]` are the truths that outcome s of action a rules out."""
    return Domain(
        name="made",
        title="Made up",
        goal="find the truth",
        truth_noun=Noun("truth", "truths"),
        action_noun=Noun("action", "actions"),
        truths=tuple(Truth(f"T{number}", f"About {number}.") for number in range(n_truths)),
        actions=tuple(_action(place, outcomes, place in floats) for place, outcomes in enumerate(exclusions)),
    )


def _action(place: int, outcomes: list[set[int]], is_float: bool) -> Action:
    states: list[State] = [Interval(2.0 * i, 2.0 * i + 1.0) if is_float else f"s{i}" for i in range(len(outcomes))]
    made = tuple(
        Outcome(state, frozenset(f"T{truth}" for truth in ruled_out))
        for state, ruled_out in zip(states, outcomes, strict=True)
    )
    return Action(f"A{place}", "float" if is_float else "str", made, unit="cm" if is_float else "")


@st.composite
def small_domains(draw: st.DrawFn, max_truths: int = 7) -> Domain:
    """Any domain of two or more truths and up to six actions, useless and contradictory actions among them."""
    n_truths = draw(st.integers(2, max_truths))
    outcome = st.sets(st.integers(0, n_truths - 1), max_size=n_truths - 1)
    exclusions = draw(st.lists(st.lists(outcome, min_size=1, max_size=3), min_size=1, max_size=6))
    floats = draw(st.sets(st.integers(0, len(exclusions) - 1)))
    return make_domain(exclusions, n_truths, frozenset(floats))


@st.composite
def small_settings(draw: st.DrawFn, domain: Domain) -> Settings:
    """Sizes that the domain has room for."""
    truths = draw(st.integers(2, len(domain.truths)))
    actions = draw(st.integers(1, len(domain.actions)))
    return Settings(truths, actions, draw(st.integers(1, truths - 1)))

"""Generated games: each singles out its truths, the same bytes everywhere, no doubles, clear refusals."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from itertools import combinations, islice, product
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kumo_games import EASY, HARD, games, make_domain, small_domains, small_settings, some_games

from creval.errors import DataError, UsageError
from creval_kumo.domains import domain_names, load_domain
from creval_kumo.domains.domain import Domain, Interval
from creval_kumo.games import generation
from creval_kumo.games.generation import GameMaker, Settings, counterfactual, generate
from creval_kumo.games.instance import Instance, state_matches
from creval_kumo.task.datasets import KumoDocs

DIGESTS = Path(__file__).parent / "data" / "task_set_digests.json"


@pytest.mark.parametrize("name", domain_names())
def test_every_game_of_every_shipped_domain_singles_out_its_truth(name: str) -> None:
    for sizes in (EASY, HARD):
        for game in islice(generate(load_domain(name), sizes, seed=11), 10):
            assert game.left(game.action_names) == game.valid_truths
            assert (len(game.truths), len(game.actions)) == (sizes.truths, sizes.actions)


@given(st.data(), st.integers(0, 10**6))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_games_of_any_small_domain_are_sound_or_refused_with_reasons(data: st.DataObject, seed: int) -> None:
    domain = data.draw(small_domains())
    sizes = data.draw(small_settings(domain))
    made: list[Instance] = []
    with mock.patch.object(generation, "MAX_TRIES", 60):
        try:
            made += islice(generate(domain, sizes, seed), 4)
        except DataError as error:
            assert "draws gave no further game" in str(error) and error.fix
    for game in made:
        assert set(game.left(game.action_names)) == set(game.valid_truths)
        assert len(game.valid_truths) == sizes.valid
        assert len(set(game.truths)) == sizes.truths and len(set(game.action_names)) == sizes.actions
        check_observations(game, domain)
    assert len({game.digest() for game in made}) == len(made)


def check_observations(game: Instance, domain: Domain) -> None:
    """Each action shows exactly one outcome of the domain, which contradicts no valid truth; numbers lie inside."""
    for action in game.actions:
        observed = game.observations[action.name]
        original = domain.action_by_name[action.name]
        shown = [outcome for outcome in original.outcomes if state_matches(outcome.state, observed)]
        assert len(shown) == 1
        assert not shown[0].rules_out.intersection(game.valid_truths)
        if isinstance(shown[0].state, Interval):
            assert shown[0].state.lo < float(observed) < shown[0].state.hi


@given(st.data(), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_refusals_are_right(data: st.DataObject, seed: int) -> None:
    """Where generation gives up at once, no choice of truths, valid truths and outcomes would have made a game."""
    domain = data.draw(small_domains(max_truths=5))
    sizes = data.draw(small_settings(domain))
    try:
        next(generate(domain, sizes, seed))
    except DataError:
        assert not any_game(domain, sizes)


def any_game(domain: Domain, sizes: Settings) -> bool:
    """Brute force over truths, valid truths and actions with outcomes."""
    names = [truth.name for truth in domain.truths]
    for truths in combinations(names, sizes.truths):
        for valid in combinations(truths, sizes.valid):
            invalid = set(truths) - set(valid)
            spared = [
                [outcome.rules_out for outcome in action.outcomes if not outcome.rules_out & set(valid)]
                for action in domain.actions
            ]
            usable = [outcomes for outcomes in spared if outcomes]
            for chosen in combinations(usable, sizes.actions):
                for shown in product(*chosen):
                    if invalid <= frozenset[str]().union(*shown):
                        return True
    return False


@pytest.mark.parametrize("solver", ["minisat22", "cadical153", "glucose4"])
@pytest.mark.parametrize("sizes", [EASY, HARD, Settings(6, 8, 2), Settings(12, 7)], ids=str)
def test_the_sat_solver_does_not_matter(solver: str, sizes: Settings) -> None:
    domain = load_domain("medical")
    plain = [game.digest() for game in islice(generate(domain, sizes, 5), 12)]
    assert [game.digest() for game in islice(generate(domain, sizes, 5, solver), 12)] == plain


def _digest_program() -> str:
    return (
        "import hashlib, json\n"
        "from creval_kumo.task.datasets import KumoDocs\n"
        "digest = hashlib.sha256()\n"
        "for truths, actions in ((4, 6), (12, 16)):\n"
        "    for doc in KumoDocs(['medical', 'fantasy'], truths, actions, count=4, seed=3).docs():\n"
        "        digest.update(json.dumps(doc.fields, ensure_ascii=False).encode())\n"
        "for doc in KumoDocs(['medical', 'fantasy'], count=4, seed=3, reliability=0.7).docs():\n"
        "    digest.update(json.dumps(doc.fields, ensure_ascii=False).encode())\n"
        "print(digest.hexdigest())\n"
    )


def test_the_hash_seed_does_not_matter() -> None:
    found = set()
    for hash_seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", _digest_program()], env=environment, capture_output=True, text=True, check=True
        )
        found.add(done.stdout)
    assert len(found) == 1


def test_the_order_of_the_domain_file_does_not_matter() -> None:
    domain = load_domain("music")
    turned = replace(domain, truths=domain.truths[::-1], actions=domain.actions[::-1])
    assert [game.digest() for game in islice(generate(turned, EASY, 2), 5)] == [
        game.digest() for game in islice(generate(domain, EASY, 2), 5)
    ]


def small_task_set(name: str, variant: str) -> str:
    """The sha256 of eight games with their books."""
    parameters: dict[str, dict[str, Any]] = {
        "easy": {},
        "hard": {"truths": 12, "actions": 16},
        "multi_truth": {"truths": 6, "actions": 8, "valid": 2},
        "counterfactual": {"counterfactual": True},
        "probabilistic": {"actions": 10, "reliability": 0.8},
    }
    docs = KumoDocs(name, **{"truths": 4, "actions": 6, "count": 8, "seed": 1, **parameters[variant]}).docs()
    digest = hashlib.sha256()
    for doc in docs:
        digest.update(json.dumps([doc.id, doc.fields], sort_keys=True, ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()


@pytest.mark.parametrize("variant", ["easy", "hard", "multi_truth", "counterfactual", "probabilistic"])
def test_the_committed_digests_hold(variant: str) -> None:
    """Published results stay comparable: a change here needs new versions of the tasks."""
    committed = json.loads(DIGESTS.read_text(encoding="utf-8"))
    names = ("medical", "chemical", "music", "education", "fantasy")
    assert {name: small_task_set(name, variant) for name in names} == committed[variant]


def test_equal_games_are_refused() -> None:
    """Three truths and one way to tell them apart: there are three games, one for each valid truth."""
    domain = make_domain([[{0, 1}, {0, 2}, {1, 2}]], 3)
    maker = GameMaker(domain, Settings(3, 1), seed=0)
    assert {maker.make(number).instance.valid_truths for number in range(3)} == {("T0",), ("T1",), ("T2",)}
    with pytest.raises(DataError, match=r"after 3: \d+ times the game was an earlier one of the set"):
        maker.make(3)


def test_numbers_measured_do_not_make_games_different() -> None:
    domain = make_domain([[{0}, {1}]], 2, floats=frozenset({0}))
    maker = GameMaker(domain, Settings(2, 1), seed=0)
    first, second = maker.make(0), maker.make(1)
    assert first.key != second.key
    with pytest.raises(DataError):
        maker.make(2)


def test_resuming_from_a_later_draw_gives_the_same_game() -> None:
    """What parallel generation relies on: a game drawn apart is the one drawn in order, where it is new."""
    domain = load_domain("fantasy")
    in_order = [game.digest() for game in islice(generate(domain, EASY, 9), 6)]
    apart = GameMaker(domain, EASY, seed=9)
    drawn = [apart.draw(number) for number in (5, 3, 0, 4, 2, 1)]
    assert {one.instance.seed: one.instance.digest() for one in drawn} == dict(enumerate(in_order))


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        (Settings(4, 6, 4), "4 valid truths of 4"),
        (Settings(4, 6, 0), "0 valid truths of 4"),
        (Settings(400, 6), "400 truths, but the domain has"),
        (Settings(4, 600), "600 actions, but the domain has"),
        (Settings(4, 0), "0 actions"),
    ],
)
def test_impossible_sizes_are_refused_at_once(sizes: Settings, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        next(generate(load_domain("medical"), sizes, 0))


@pytest.mark.parametrize(
    ("exclusions", "n_truths", "sizes", "said"),
    [
        ([[{0}, {1}], [{0}, {1}]], 4, Settings(4, 2), "no outcome spares the valid truths.*most often T[23]"),
        ([[{0}, {1}, {2}], [{0}, set()], [{1}, set()], [{2}, set()]], 3, Settings(3, 1), "more actions are needed"),
        ([[{0}, {1}, {2}]], 3, Settings(3, 1), "different outcomes of the same action"),
        ([[{0}, {1}], [{0, 1}]], 2, Settings(2, 2), "too few actions have an outcome that spares"),
    ],
)
def test_settings_that_cannot_be_met_are_explained(
    exclusions: list[list[set[int]]], n_truths: int, sizes: Settings, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "MAX_TRIES", 60)
    with pytest.raises(DataError, match=said) as caught:
        next(generate(make_domain(exclusions, n_truths), sizes, 0))
    assert caught.value.where and "made" in caught.value.where
    assert caught.value.fix == "Ask for fewer truths, fewer games or more actions."


def test_counterfactual_domains_keep_their_structure_and_no_truth_its_exclusions() -> None:
    domain = load_domain("chemical")
    other = counterfactual(domain, seed=4)
    assert other.name == "chemical_counterfactual"
    for action, shuffled in zip(domain.actions, other.actions, strict=True):
        assert [len(o.rules_out) for o in action.outcomes] == [len(o.rules_out) for o in shuffled.outcomes]

    def signatures(of: Domain) -> dict[str, tuple[tuple[str, int], ...]]:
        places: dict[str, list[tuple[str, int]]] = {truth.name: [] for truth in of.truths}
        for action in of.actions:
            for index, outcome in enumerate(action.outcomes):
                for name in outcome.rules_out:
                    places[name].append((action.name, index))
        return {name: tuple(found) for name, found in places.items()}

    before, after = signatures(domain), signatures(other)
    assert sorted(before.values()) == sorted(after.values())
    assert all(before[name] != after[name] for name in before)
    assert counterfactual(domain, 4) == other != counterfactual(domain, 5)


def test_a_game_survives_json() -> None:
    for game in some_games():
        again = Instance.from_doc(json.loads(json.dumps(game.to_doc())))
        assert again == game and again.digest() == game.digest()


def test_the_valid_truth_is_anywhere() -> None:
    """No place in the list of truths gives the valid one away (uniform: chi-square with 3 degrees below 16.3)."""
    counts = [0, 0, 0, 0]
    for game in games("medical", EASY, 400, seed=21):
        counts[game.truths.index(game.valid_truths[0])] += 1
    assert sum((count - 100) ** 2 / 100 for count in counts) < 16.3

"""Golden runs: small games are played as the proven search plays them, and every run ends at a valid truth."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kumo_games import EASY, HARD, games, make_domain, small_domains, small_settings, some_games

from creval.errors import CrevalError, DataError
from creval_kumo.bits import bits
from creval_kumo.domains import domain_names, load_domain
from creval_kumo.games.counting import compat_length, relative_action_count
from creval_kumo.games.generation import Settings, generate
from creval_kumo.search.compiled_engine import available
from creval_kumo.search.golden import GoldenRun, OptimalPlayer, golden_of, golden_run, observed_masks, puzzle_of
from creval_kumo.search.limits import Budget, Limits, NotProvenError
from creval_kumo.search.small_games import SmallGame
from creval_kumo.search.solver import OptimalSearch, greedy_bound


@given(st.data(), st.integers(0, 1000))
@settings(max_examples=120, deadline=None)
def test_small_games_agree_with_the_proven_search(data: st.DataObject, seed: int) -> None:
    domain = data.draw(small_domains())
    sizes = data.draw(small_settings(domain))
    try:
        game = next(generate(domain, sizes, seed))
    except DataError:
        return
    puzzle, observed = puzzle_of(game), observed_masks(game)
    small, proven = SmallGame(puzzle), OptimalSearch(puzzle, engine="python")
    value = small.value(puzzle.all_truths, puzzle.all_actions)
    assert value == pytest.approx(proven.prove().value, abs=1e-9)
    assert small.golden_run(observed) == proven.golden_run(observed)
    assert golden_of(game).prediction in game.valid_truths


@pytest.mark.parametrize("sizes", [EASY, Settings(8, 10), Settings(6, 8, 2)], ids=str)
def test_shipped_games_are_played_alike(sizes: Settings) -> None:
    for game in some_games(sizes, 3):
        assert golden_of(game) == OptimalPlayer(game, engine="python").run()


def test_every_step_of_a_golden_run_is_optimal() -> None:
    for game in some_games(EASY, 6):
        run, player = golden_of(game), OptimalPlayer(game)
        for taken, action in enumerate(run.tests):
            assert player.is_optimal(run.tests[:taken], action)
        assert player.best(run.tests) is None
        assert run.prediction in game.valid_truths


@pytest.mark.skipif(not available(), reason="without numba this takes minutes: pip install numba")
def test_hard_games_end_at_the_valid_truth() -> None:
    for game in games("fantasy", HARD, 1):
        assert golden_of(game).prediction == game.valid_truths[0]


def test_an_unproven_optimum_is_an_error_and_no_guess() -> None:
    game = games("medical", HARD, 1)[0]
    with pytest.raises(CrevalError, match=r"not proven after \d+ states: E\[S\] is between"):
        golden_of(game, Limits(nodes=20), engine="python")


def test_with_several_valid_truths_play_ends_when_no_others_are_left() -> None:
    """One outcome rules out the only false truth: after that one test any truth left is right."""
    domain = make_domain([[{0}, {1}, {2}]], 3)
    game = next(generate(domain, Settings(3, 1, 2), seed=0))
    run = golden_of(game)
    assert (len(run.tests), run.prediction in game.valid_truths) == (1, True)


def test_golden_runs_of_docs_are_those_of_their_games() -> None:
    game = games("music")[0]
    assert golden_run(game.to_doc()) == golden_of(game)
    assert golden_run(game.to_doc()) is golden_run(dict(game.to_doc(), book="another book"))


def test_counting() -> None:
    """Eq. 4 in the paper's count: the golden run itself is 0; a failure is worth N_action + 1."""
    golden = GoldenRun(("a", "b"), "t")
    assert golden.compat_length == 4
    assert relative_action_count(compat_length(2, True, 6), 2) == 0
    assert relative_action_count(compat_length(0, True, 6), 2) == -0.5
    assert relative_action_count(compat_length(0, False, 6), 2) == (7 - 4) / 4
    assert relative_action_count(compat_length(40, False, 16), 5) == (17 - 7) / 7


@given(st.integers(0, 2**10 - 1))
def test_bits_and_masks_fit(mask: int) -> None:
    assert sum(1 << bit for bit in bits(mask)) == mask


@pytest.mark.parametrize("truths", [40, 58])
def test_a_game_far_beyond_the_paper_s_keeps_to_its_limits_and_its_success(truths: int) -> None:
    """40 and 58 truths, 35 actions: the tables stop at their limit, and bounds are told in place of a value."""
    domains = map(load_domain, domain_names())
    domain = next(domain for domain in domains if len(domain.truths) >= truths and len(domain.actions) >= 35)
    game = next(generate(domain, Settings(truths, 35), 3))
    for engine in ("python", "auto"):
        search = OptimalSearch(puzzle_of(game), Limits(nodes=20_000, memory=30_000_000), engine)
        proof = search.prove()
        assert not proof.proven
        assert 1 <= proof.lower <= proof.upper <= 35
        assert search.prove().proven is False  # asked again, the memo is as sound as before
    with pytest.raises(NotProvenError):
        golden_of(game, Limits(nodes=2_000, memory=10_000_000), "python")


def test_the_upper_bound_is_one_whatever_it_may_cost() -> None:
    game = next(generate(load_domain("medical"), Settings(8, 10), 1))
    value = OptimalSearch(puzzle_of(game)).prove().value
    bounds = [
        greedy_bound(puzzle, puzzle.all_truths, puzzle.all_actions, Budget(Limits(nodes)))
        for puzzle in [puzzle_of(game)]
        for nodes in (0, 1, 10, 100, None)
    ]
    assert all(bound >= value - 1e-9 for bound in bounds)
    assert bounds[-1] <= bounds[0] == 10


def test_a_machine_without_the_memory_proves_nothing_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    search = OptimalSearch(puzzle_of(next(generate(load_domain("medical"), Settings(6, 8), 1))), engine="python")

    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(search._engine, "below", full)
    assert not search.prove().proven

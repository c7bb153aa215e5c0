"""Where results are not certain: books tell the rule and claim no certainty; what a person is shown says the same."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from augment_support import ask_server, messages
from kumo_games import HARD, games
from support.chat_server import Answer, ChatServer

from creval.types.messages import GenerateRequest, Message, Origin
from creval.types.sample import SampleKey, ScoreRecord, Status
from creval_kumo.augment.asking import Augmenter
from creval_kumo.augment.book_writing import WrittenBook, write_book_by_model
from creval_kumo.books.book import chance_rule, write_book
from creval_kumo.books.book_check import book_faults
from creval_kumo.domains import domain_names, load_domain
from creval_kumo.games.generation import Settings
from creval_kumo.play.screen import GameScreen
from creval_kumo.task.datasets import game_doc

CHANCE = Settings(4, 6, 1, 0.85)
GAME = games("medical", CHANCE)[0]
DOMAIN = load_domain("medical")
SOUND = write_book(GAME, DOMAIN)
NO_ERRORS = "NO ERRORS"


@pytest.mark.parametrize("name", domain_names())
def test_the_book_of_a_game_is_complete_and_claims_no_certainty(name: str) -> None:
    for game in (*games(name, CHANCE, 4), *games(name, Settings(HARD.truths, HARD.actions, 1, 0.6), 1)):
        book = write_book(game, load_domain(name))
        assert book_faults(book, game) == []
        assert re.findall(r"rules? out|eliminat\w+|only excludes", book) == []


def test_the_rule_holds_every_number_that_the_posterior_needs() -> None:
    text = " ".join(chance_rule(GAME))
    assert re.findall(r"\d+(?:\.\d+)?%", text) == ["85%", "15%"]
    assert "each of the 4 possibilities is equally likely" in text
    assert text.count("each of them with the same chance") == 2
    assert "stays the same however often" in text and "independently" in text
    assert text in SOUND


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("85%", "75%"),
        ("85%", "8.5%"),
        ("15%", "5%"),
        ("With a probability of 85% it", "Mostly it"),
        ("each of the 4 possibilities", "each of the 5 possibilities"),
        ("is equally likely to be", "may be"),
        ("each of them with the same chance, whichever", "whichever"),
        ("independently of the others, ", ""),
        (", and stays the same however often it is asked for", ""),
        ("that do not speak against the valid one", "that speak against the valid one"),
        ("Results are not certain. ", ""),
    ],
)
def test_a_rule_with_less_or_another_number_is_found_out(before: str, after: str) -> None:
    assert before in SOUND
    faults = book_faults(SOUND.replace(before, after), GAME)
    assert faults and all(fault.startswith("it does not say that: ") for fault in faults)


def test_a_rule_in_other_markup_is_understood() -> None:
    assert book_faults(SOUND.replace("85%", "**85 %**").replace("Results are", "*Results* are"), GAME) == []


@pytest.mark.parametrize("name", ["medical", "fantasy", "software_bugs"])
def test_a_book_with_a_fact_less_or_a_wrong_one_is_found_out(name: str) -> None:
    """In every line of an outcome, in turn: the line away, one truth less, another truth, one truth more."""
    game = games(name, CHANCE, 1)[0]
    book = write_book(game, load_domain(name))
    lines = re.findall(r"^- If .*$", book, re.MULTILINE)
    assert len(lines) > 10
    for line in lines:
        head, said = line.rsplit(": ", 1)
        named = [truth for truth in game.truths if truth in said]
        others = [truth for truth in game.truths if truth not in said]
        changed = [", ".join(named[1:]) or "none"] if named else []
        changed += [", ".join([*named, others[0]])] if others else []
        changed += [", ".join([*named[1:], others[0]])] if named and others else []
        for text in changed:
            assert book_faults(book.replace(line, f"{head}: this speaks against {text}."), game), (line, text)
        assert book_faults(book.replace(line + "\n", ""), game), line


@pytest.mark.parametrize(
    "claim",
    ["this rules out {}", "rule out {}", "this speaks against {}, which are excluded", "less likely (eliminated): {}"],
)
def test_a_claim_of_certainty_is_found_out(claim: str) -> None:
    line = next(line for line in re.findall(r"^- If .*$", SOUND, re.MULTILINE) if " against no " not in line)
    head, said = line.rsplit(": ", 1)
    names = said.removeprefix("this speaks against ").removesuffix(".")
    assert book_faults(SOUND.replace(line, f"{head}: evidence against {names}."), GAME) == []
    faults = book_faults(SOUND.replace(line, f"{head}: {claim.format(names)}."), GAME)
    assert any("rules something out, but" in fault or "is not stated" in fault for fault in faults)


def test_faults_are_worded_for_evidence() -> None:
    truth = GAME.truths[0]
    line = next(line for line in re.findall(r"^- If .*$", SOUND, re.MULTILINE) if f"against {truth}." in line)
    (fault,) = book_faults(SOUND.replace(line, line.replace(f"against {truth}", "against no disease")), GAME)
    assert re.fullmatch(rf"it does not say that the result .* of '.*' speaks against {truth!r}", fault)
    other = next(name for name in GAME.truths if name not in line)
    (fault,) = book_faults(SOUND.replace(line, line.replace(f"{truth}.", f"{truth} and {other}.")), GAME)
    assert fault.startswith(repr(other)) and fault.endswith("which does not speak against it")


def test_books_of_certain_and_uncertain_games_do_not_pass_for_each_other() -> None:
    certain = games("medical", Settings(4, 6))[0]
    assert (certain.truths, certain.actions) == (GAME.truths, GAME.actions)
    assert book_faults(write_book(certain, DOMAIN), GAME)
    assert book_faults(SOUND, certain)


def test_a_model_gets_the_rule_in_every_prompt_and_held_to_it() -> None:
    async def work(augmenter: Augmenter) -> WrittenBook:
        return await write_book_by_model(augmenter, GAME, DOMAIN)

    without = SOUND.replace("With a probability of 85% it", "Mostly it")
    with ChatServer([Answer(text) for text in (without, NO_ERRORS, SOUND, NO_ERRORS)]) as server:
        book = ask_server(server, work)
    assert (book.text, book.revisions) == (SOUND, 1)
    assert [error.startswith("it does not say that: With a probability of 85%") for error in book.errors] == [True]
    for number in range(4):
        sent = messages(server, number)[0]["content"]
        assert " ".join(chance_rule(GAME)) in sent and '"speaks against" and never "rules out"' in sent


# --- what a person is shown -------------------------------------------------------------------------------------------


def view(doc: dict[str, Any]) -> Any:
    origin = Origin(SampleKey("kumo_probabilistic", doc["id"], "default", 0), doc=doc)
    return GameScreen().view(GenerateRequest((Message("user", "Begin."),), {}, origin))


def test_the_screen_says_that_results_are_evidence() -> None:
    shown = view(game_doc(GAME, DOMAIN))
    assert "speaks against" in shown.guide and "excludes none" in shown.guide and "most probable" in shown.guide
    assert "rules out" not in shown.guide + shown.goal and "Be right above all" in shown.goal
    assert shown.reading == SOUND
    certain = view(game_doc(games("medical", Settings(4, 6))[0], DOMAIN))
    assert "rules out" in certain.guide and "Be right, and" in certain.goal


def test_the_closing_distinguishes_luck_and_soundness() -> None:
    scores = [
        ScoreRecord(
            SampleKey("kumo_probabilistic", str(doc), "default", 0),
            Status.SCORED,
            {"success_rate": success, "most_probable_rate": sound, "tests": 3.0},
        )
        for doc, (success, sound) in enumerate([(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
    ]
    right, sound = GameScreen().closing({"kumo_probabilistic": scores})
    assert right == "You were right in 2 of 3 games and took 9 actions."
    assert sound.endswith("given what you had seen: in 2 of 3.")


def test_a_person_plays_in_the_terminal(tmp_path: Path) -> None:
    """The first two actions of the first game, then the third truth (see the examples of the task)."""
    words = ["play", "kumo_probabilistic", "--limit", "first:1", "--output", "run"]
    done = subprocess.run(
        [sys.executable, "-m", "creval", *words], cwd=tmp_path, input="1\n2\n13\n", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "speaks against" in said and "With a probability of 80%" in said
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    values = {metric["name"]: metric["value"] for metric in results["tasks"][0]["metrics"]}
    assert (values["posterior"], values["most_probable_rate"], values["tests"]) == (0.3125, 0, 2)

"""Stage d against a real server: books are checked, revised with the errors found, and never handed out unsound."""

from __future__ import annotations

import pytest
from augment_support import ask_server, messages
from kumo_games import games
from support.chat_server import Answer, ChatServer

from creval.errors import DataError, FatalModelError
from creval_kumo.augment.asking import Augmenter
from creval_kumo.augment.book_writing import WrittenBook, write_book_by_model
from creval_kumo.books.book import write_book
from creval_kumo.domains import load_domain
from creval_kumo.published.literal import read_value
from creval_kumo.trajectories.conversation import symbolic_book

GAME = games("medical")[0]
DOMAIN = load_domain("medical")
SOUND = write_book(GAME, DOMAIN)
NO_ERRORS = "I compared everything.\nNO ERRORS"
ACTION = next(action for action in GAME.actions if any(ruled_out for _, ruled_out in action.outcomes))
TRUTH = sorted(next(ruled_out for _, ruled_out in ACTION.outcomes if ruled_out))[0]


def without(text: str, word: str) -> str:
    return text.replace(word, "something else")


def written(*answers: str, rounds: int = 3) -> tuple[WrittenBook, ChatServer]:
    async def work(augmenter: Augmenter) -> WrittenBook:
        return await write_book_by_model(augmenter, GAME, DOMAIN, rounds)

    with ChatServer([Answer(answer) for answer in answers]) as server:
        return ask_server(server, work), server


def test_a_sound_book_is_taken_at_once() -> None:
    book, server = written(f"```markdown\n{SOUND}\n```", NO_ERRORS)
    assert book == WrittenBook(SOUND, 0, ())
    assert len(server.requests) == 2
    for number in (0, 1):
        sent = messages(server, number)[0]["content"]
        assert symbolic_book(GAME) in sent and ", ".join(GAME.truths) in sent
    assert SOUND.strip() in messages(server, 1)[0]["content"]


def test_what_the_check_finds_is_revised_even_if_the_model_finds_nothing() -> None:
    faulty = without(SOUND, TRUTH)
    book, server = written(faulty, NO_ERRORS, SOUND, NO_ERRORS)
    assert (book.text, book.revisions) == (SOUND, 1)
    assert f"the truth {TRUTH!r} is not named" in book.errors
    revise = messages(server, 2)[0]["content"]
    assert f"- the truth {TRUTH!r} is not named" in revise and faulty.strip() in revise


def test_what_the_model_finds_is_revised_too() -> None:
    book, server = written(SOUND, "- The second sentence is ambiguous.", SOUND, NO_ERRORS)
    assert book == WrittenBook(SOUND, 1, ("The second sentence is ambiguous.",))
    assert "- The second sentence is ambiguous." in messages(server, 2)[0]["content"]


def test_objections_after_the_last_round_are_let_pass_where_the_check_finds_nothing() -> None:
    book, server = written(SOUND, "- Too long.", SOUND, "- Still too long.", SOUND, rounds=2)
    assert (book.text, book.revisions) == (SOUND, 2)
    assert len(server.requests) == 5


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_a_book_that_stays_unsound_is_an_error(rounds: int) -> None:
    faulty = without(SOUND, TRUTH)
    answers = [faulty, *[NO_ERRORS, faulty] * rounds]
    with pytest.raises(DataError, match=rf"after {rounds} revisions the book still has \d+ faults") as caught:
        written(*answers, rounds=rounds)
    assert repr(TRUTH) in str(caught.value) and "--augmenter" in str(caught.value.fix)


def test_a_cut_book_is_continued() -> None:
    half = len(SOUND) // 2

    async def work(augmenter: Augmenter) -> WrittenBook:
        return await write_book_by_model(augmenter, GAME, DOMAIN)

    script = [Answer(SOUND[:half], finish_reason="length"), Answer(SOUND[half:]), Answer(NO_ERRORS)]
    with ChatServer(script) as server:
        assert ask_server(server, work).text == SOUND


def test_an_endless_answer_is_refused() -> None:
    with pytest.raises(FatalModelError, match="more than 1000000 characters"):
        written("word " * 300_000)


def test_the_symbolic_book_is_plain_data_with_every_exclusion() -> None:
    for game in games("chemical"):
        read = read_value(symbolic_book(game))
        assert list(read) == list(game.action_names)
        for action in game.actions:
            states = [ruled_out for _, ruled_out in action.outcomes]
            assert list(read[action.name]["states"].values()) == states

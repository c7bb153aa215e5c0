"""Books by template tell everything; books that lack or change a fact are found out, in other styles too."""

from __future__ import annotations

import re

import pytest
from kumo_games import EASY, HARD, games, make_domain

from creval_kumo.books.book import state_text, write_book, write_long_book
from creval_kumo.books.book_check import book_faults
from creval_kumo.domains import domain_names, load_domain
from creval_kumo.games.generation import Settings, generate
from creval_kumo.games.instance import Instance


@pytest.mark.parametrize("name", domain_names())
def test_the_book_of_a_game_is_complete(name: str) -> None:
    for game in (*games(name, EASY, 5), *games(name, HARD, 2)):
        assert book_faults(write_book(game, load_domain(name)), game) == []


def test_the_long_book_holds_the_game_s_facts_among_those_of_the_domain() -> None:
    domain = load_domain("medical")
    for game in games("medical", EASY, 3):
        book = write_long_book(game, domain)
        assert len(book) > 5 * len(write_book(game, domain))
        assert all(f"- **{truth.name}**" in book for truth in domain.truths)
        assert all(f"### {action.name}\n" in book for action in domain.actions)
        for action in game.actions:
            section = book.split(f"### {action.name}\n")[1].split("### ")[0]
            for state, ruled_out in action.outcomes:
                line = next(
                    line for line in section.splitlines() if f"result is {state_text(state, action.unit)}:" in line
                )
                assert all(name in line for name in ruled_out)
                assert not any(name in line for name in set(game.truths) - ruled_out)


@pytest.mark.parametrize("name", domain_names())
def test_a_book_without_one_of_its_facts_is_found_out(name: str) -> None:
    """Every line that tells a fact is left out in turn; so is every truth, everywhere."""
    for game in games(name, EASY, 1):
        book = write_book(game, load_domain(name))
        lines = book.split("\n")
        for index, line in enumerate(lines):
            if line.startswith(("### ", "- If ")):
                assert book_faults("\n".join(lines[:index] + lines[index + 1 :]), game), line
        for truth in game.truths:
            assert any(truth in fault for fault in book_faults(book.replace(truth, "it"), game))


@pytest.mark.parametrize("name", ["medical", "fantasy", "software_bugs"])
def test_a_book_with_a_wrong_exclusion_is_found_out(name: str) -> None:
    """In every line of an outcome, in turn: one truth less, another truth instead, one truth more."""
    for game in games(name, EASY, 2):
        book = write_book(game, load_domain(name))
        for line in re.findall(r"^- If .*$", book, re.MULTILINE):
            head, said = line.rsplit(": ", 1)
            named = [truth for truth in game.truths if truth in said]
            others = [truth for truth in game.truths if truth not in said]
            changed = [", ".join(named[1:]) or "no truth"] if named else []
            changed += [", ".join([*named, others[0]])] if others else []
            changed += [", ".join([*named[1:], others[0]])] if named and others else []
            for text in changed:
                assert book_faults(book.replace(line, f"{head}: rule out {text}."), game), (line, text)


def test_a_book_with_a_wrong_number_is_found_out() -> None:
    checked = 0
    for game in games("medical", EASY, 4):
        book = write_book(game, load_domain("medical"))
        for found in re.finditer(r"between ([\d.]+) and ([\d.]+)", book):
            changed = book[: found.start(2)] + str(float(found[2]) + 7.5) + book[found.end(2) :]
            assert any("is not stated" in fault for fault in book_faults(changed, game)), found[0]
            checked += 1
    assert checked > 10


def made_game() -> Instance:
    """Two actions with labels and one with intervals over T0, T1 and T2."""
    domain = make_domain([[{0}, {1, 2}], [set(), {1}], [{2}, {0}]], 3, floats=frozenset({1}))
    return next(generate(domain, Settings(3, 3), seed=1))


STYLES = {
    "sentences": """
The truths are **T0**, T1 and *T2*.
A0: if s0 is seen, T0 is ruled out. If you see s1, this rules out T1 as well as T2; s0 and s1 say nothing else.
A1
  A value of 0-1 cm excludes nobody, a value of 2.0 to 3.0 cm excludes T1.
A2
  When it is S0, T2 is eliminated; with s1, T0 is eliminated.
""",
    "nested": """
# Truths
1. T0
2. T1
3. T2
# Actions
1. **A0**
   - Outcomes:
     - `s0`
       - Rule out: T0
     - `s1`
       - Rule out: T1
       - Rule out: T2
2. **A1**
   - from 0 to 1 cm: rules out no truth
   - from 2 to 3 cm:

       rules out T1
3. **A2**
   - "s0" - ruled out: T2
   - "s1" - ruled out: T0
""",
}


@pytest.mark.parametrize("style", STYLES)
def test_other_styles_are_understood(style: str) -> None:
    assert book_faults(STYLES[style], made_game()) == []


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("   - from 0 to 1 cm: rules out no truth\n", "", "the result between 0 and 1 cm of 'A1' is not stated"),
        ("       - Rule out: T2\n", "", "it does not say that the result \"s1\" of 'A0' rules out 'T2'"),
        (
            "ruled out: T0",
            "ruled out: T0, T1",
            "'T1' is next to the result \"s1\" of 'A2', which does not rule it out",
        ),
        ("3. **A2**\n", "", "the action 'A2' has no section or item of its own"),
        ("rules out no truth", "is quite common", "the result between 0 and 1 cm of 'A1' is not stated"),
    ],
)
def test_faults_are_named(before: str, after: str, fault: str) -> None:
    book = STYLES["nested"]
    assert before in book
    assert any(one.startswith(fault) for one in book_faults(book.replace(before, after), made_game()))


def test_a_label_inside_another_does_not_count() -> None:
    """`normal` in `abnormal`, and a truth's name inside a longer one, are no mention of it."""
    text = write_book(made_game(), make_domain([], 3)).replace('"s1"', '"s1s0"').replace("**T0**", "**T0b**")
    faults = book_faults(text, made_game())
    assert "the result \"s1\" of 'A0' is not stated" in faults


def test_an_empty_book_lacks_everything() -> None:
    game = made_game()
    assert len(book_faults("", game)) == len(game.truths) + len(game.actions)

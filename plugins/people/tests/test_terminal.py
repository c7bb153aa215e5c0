"""The terminal seat: what is painted, and how wrong input is met."""

from __future__ import annotations

import asyncio
import io
import os

import pytest
from rich.console import Console

from creval.plugin.screens import OptionGroup, PastStep, ScreenOption, View
from creval_people.seats.line_reader import LineReader
from creval_people.seats.progress import Progress
from creval_people.seats.terminal import TerminalSeat

BOOK = "# Guide\n\n" + "\n".join(f"- point {number}" for number in range(60))
GAME = View(
    sample="game-1",
    title="Medical diagnosis",
    goal="Find the disease.",
    reading=BOOK,
    reading_title="Guidebook",
    markdown=True,
    guide="Take tests, then name the disease.",
    past=(PastStep("Blood Test", "low"),),
    groups=(
        OptionGroup("Take a test", (ScreenOption("Blood Test", "taken"), ScreenOption("X-Ray"))),
        OptionGroup("Name the disease", (ScreenOption("Asthma"), ScreenOption("Flu")), final=True),
    ),
)
TEXT_OF_MANY_LINES = View(sample="text-2", title="t", goal="Answer.", reading=BOOK)
TEXT = View(sample="text-1", title="t", goal="Answer.", reading="Name three colours.")


def play(
    typed: str, *views: View, size: tuple[int, int] = (80, 30), terminal: bool = True
) -> tuple[list[str | None], str]:
    """Ask each view in turn; return the answers and all that was painted."""
    source, sink = os.pipe()
    os.write(sink, typed.encode())
    os.close(sink)
    console = Console(
        file=io.StringIO(), force_terminal=terminal, color_system=None, width=size[0], height=size[1], highlight=False
    )
    progress = Progress()
    progress.on_phase("generate", None, 10, 2)
    seat = TerminalSeat(LineReader(source), console, "ada", progress)

    async def go() -> list[str | None]:
        return [await seat.ask(view) for view in views]

    answers = asyncio.run(go())
    return answers, console.file.getvalue()  # type: ignore[attr-defined]


def screens(painted: str) -> list[str]:
    """The screens in order (each begins by clearing the terminal)."""
    return painted.split("\x1b[2J")[1:]


def test_wrong_input_is_reported_and_asked_again() -> None:
    answers, painted = play("9\nAstma\nasthma\n", GAME)
    assert answers == ["Asthma"]
    _, second, third = screens(painted)
    assert "There is no number 9" in second
    assert "Did you mean Asthma?" in third


def test_the_screen_shows_title_goal_text_past_choices_and_standing() -> None:
    _, painted = play("2\n", GAME)
    for shown in ("Medical diagnosis", "3 of 10", "ada", "Find the disease.", "Guidebook", "Blood Test: low"):
        assert shown in painted
    assert "1 Blood Test  taken" in painted
    assert "4 Flu" in painted


@pytest.mark.parametrize("size", [(80, 24), (100, 40), (140, 40), (200, 60)])
def test_a_screen_never_runs_off_the_terminal_and_pages_reach_the_whole_book(size: tuple[int, int]) -> None:
    _, painted = play("+\n" * 20 + "2\n", GAME, size=size)
    seen = set()
    for screen in screens(painted):
        lines = screen.split("\n")
        assert len(lines) <= size[1]
        assert all(len(line) <= size[0] for line in lines if "\x1b" not in line)
        seen |= {number for number in range(60) if f"point {number} " in screen.replace("│", " ")}
    assert seen == set(range(60))


HARD = View(
    **{name: getattr(GAME, name) for name in GAME.__slots__ if name not in ("groups", "past")},
    past=tuple(PastStep(f"Test {number}", "low") for number in range(4)),
    groups=(
        OptionGroup("Take a test", tuple(ScreenOption(f"Test {number}") for number in range(16))),
        OptionGroup("Name the disease", tuple(ScreenOption(f"Disease {number}") for number in range(12)), final=True),
    ),
)


def test_a_terminal_too_small_for_both_begins_with_the_text_and_turns_between_text_and_choices() -> None:
    answers, painted = play("+\n\n+\n17\n", HARD, size=(80, 29))
    book, second_page, choices, again = screens(painted)
    assert "page 1 of" in book and "point 0" in book and "Disease" not in book and "Enter shows the choices" in book
    assert "page 2 of" in second_page
    assert "28 Disease 11" in choices and "point" not in choices and "+ shows the text" in choices
    assert "page 2 of" in again
    assert all(len(screen.split("\n")) <= 29 for screen in screens(painted))
    assert answers == ["Disease 0"]


def test_after_a_choice_the_choices_stand_there_again_and_a_new_sample_begins_with_its_text() -> None:
    other = View(**{**{name: getattr(HARD, name) for name in HARD.__slots__}, "sample": "game-2"})
    _, painted = play("1\n2\n17\n", HARD, HARD, other, size=(80, 29))
    first, second, third = screens(painted)
    assert "point 0" in first
    assert "28 Disease 11" in second and "point" not in second
    assert "point 0" in third


@pytest.mark.parametrize("size", [(80, 24), (120, 20), (120, 29), (60, 15), (40, 10), (30, 6)])
@pytest.mark.parametrize("view", [HARD, TEXT_OF_MANY_LINES], ids=["choices", "free text"])
def test_on_a_terminal_of_any_size_every_line_of_the_text_can_be_reached(view: View, size: tuple[int, int]) -> None:
    _, painted = play("+\n" * (10 + 720 // size[1]), view, size=size)  # a page for each press
    seen = set()
    for screen in screens(painted):
        assert len(screen.split("\n")) <= size[1] + 2 * (size[1] < 10)  # what is smaller than any terminal may scroll
        seen |= {number for number in range(60) if f"point {number} " in screen.replace("│", " ")}
    assert seen == set(range(60))


def test_q_stops_as_quit_does_unless_it_is_a_choice() -> None:
    assert play("q\n", GAME)[0] == play(" Q \n", GAME)[0] == play("quit\n", GAME)[0] == [None]
    letters = View(
        sample="l",
        title="t",
        goal="g",
        reading="r",
        groups=(OptionGroup("Pick", (ScreenOption("Q"), ScreenOption("R"))),),
    )
    assert play("q\n", letters)[0] == ["Q"]
    assert play("q\n.\n", TEXT)[0] == ["q"]


def test_pages_stop_at_both_ends() -> None:
    _, painted = play("-\n" + "+\n" * 50 + "-\n2\n", GAME)
    pages = [screen.split("page ")[1].split(" (")[0].strip() for screen in screens(painted)]
    last = pages[-2].split(" of ")[1]
    assert pages[0] == pages[1] == f"1 of {last}"
    assert pages[-2] == f"{last} of {last}"
    assert pages[-1] == f"{int(last) - 1} of {last}"


def test_help_says_how_to_play_and_quit_stops() -> None:
    answers, painted = play("?\nquit\n", GAME)
    assert answers == [None]
    assert "Take tests, then name the disease." in screens(painted)[1]


def test_the_end_of_input_stops() -> None:
    assert play("", GAME)[0] == [None]
    assert play("", TEXT)[0] == [None]


def test_a_new_sample_begins_at_the_first_page_and_reports_that_the_last_answer_is_noted() -> None:
    other = View(**{**{name: getattr(GAME, name) for name in GAME.__slots__}, "sample": "game-2"})
    answers, painted = play("+\nFlu\n1\n", GAME, other)
    assert answers == ["Flu", "Blood Test"]
    last = screens(painted)[-1]
    assert "page 1 of" in last
    assert "Your answer is noted: Flu" in last


def test_free_text_has_many_lines_and_may_not_be_empty() -> None:
    answers, painted = play(".\nred\n\ngreen blue\n.\n", TEXT)
    assert answers == ["red\n\ngreen blue"]
    assert "may not be empty" in painted


def test_free_text_that_the_end_of_input_cuts_is_taken() -> None:
    assert play("red", TEXT)[0] == ["red"]


def test_in_a_pipe_the_whole_text_occurs_once_per_sample() -> None:
    _, painted = play("1\n2\n", GAME, GAME, terminal=False)
    assert painted.count("point 59") == 1
    assert "\x1b" not in painted


def test_markup_in_names_is_shown_as_it_is() -> None:
    odd = View(
        sample="s", title="[bold]x", goal="g", reading="[red]y", groups=(OptionGroup("[i]", (ScreenOption("[b]z"),)),)
    )
    answers, painted = play("1\n", odd)
    assert answers == ["[b]z"]
    for shown in ("[bold]x", "[red]y", "[i]", "[b]z"):
        assert shown in painted


def test_a_doc_cannot_steer_the_terminal() -> None:
    """Control characters of a task's data are written out, in every part of a view; the answer stays the choice."""
    bad = "a\x1b]0;owned\x07b\x9b2J"
    view = View(
        sample="s",
        title=bad,
        goal=bad,
        reading=bad,
        reading_title=bad,
        guide=bad,
        past_title=bad,
        past=(PastStep(bad, bad),),
        groups=(OptionGroup(bad, (ScreenOption(bad, bad),)),),
    )
    for terminal in (True, False):
        answers, painted = play("?\n1\n", view, terminal=terminal)
        assert answers == [bad]
        assert "\x1b]" not in painted and "\x07" not in painted and "\x9b" not in painted
        assert "\\x1b]0;owned" in painted

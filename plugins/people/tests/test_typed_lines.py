"""What a typed line means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.plugin.screens import OptionGroup, ScreenOption, View
from creval_people.seats.typed_lines import Chosen, Help, Page, Stop, Wrong, read_choice


def view(*groups: tuple[str, ...]) -> View:
    return View(
        sample="s",
        title="t",
        goal="g",
        reading="r",
        groups=tuple(OptionGroup("G", tuple(ScreenOption(name) for name in group)) for group in groups),
    )


GAME = view(("Blood Test", "Chest X-Ray"), ("Brain Tumor", "Asthma"))


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("1", "Blood Test"),
        (" 2 ", "Chest X-Ray"),
        ("3", "Brain Tumor"),
        ("Asthma", "Asthma"),
        ("brain  TUMOR", "Brain Tumor"),
    ],
)
def test_a_number_or_name_is_a_choice(line: str, value: str) -> None:
    assert read_choice(line, GAME) == Chosen(value)


@pytest.mark.parametrize("line", ["", "0", "5", "-1", "1.5", "Blood", "²", "99999999999999999999"])
def test_everything_else_is_said_to_be_wrong(line: str) -> None:
    assert isinstance(read_choice(line, GAME), Wrong)


def test_a_misspelt_name_gets_the_nearest_one() -> None:
    meaning = read_choice("Brian Tumor", GAME)
    assert isinstance(meaning, Wrong)
    assert "Brain Tumor" in meaning.reason


def test_commands() -> None:
    assert read_choice("+", GAME) == Page(1)
    assert read_choice("-", GAME) == Page(-1)
    assert read_choice("?", GAME) == Help()
    assert read_choice("QUIT", GAME) == Stop()


def test_a_name_counts_before_a_number_and_a_command() -> None:
    odd = view(("2", "quit", "first"))
    assert read_choice("2", odd) == Chosen("2")
    assert read_choice("quit", odd) == Chosen("quit")
    assert read_choice("3", odd) == Chosen("first")


def test_names_that_differ_in_case_only_need_the_exact_name() -> None:
    twins = view(("Iron", "IRON"))
    assert read_choice("IRON", twins) == Chosen("IRON")
    assert isinstance(read_choice("iron", twins), Wrong)


@given(
    st.text(max_size=300),
    st.lists(st.text(min_size=1, max_size=20).map(str.strip).filter(bool), min_size=1, unique=True),
)
def test_any_line_is_read_and_a_choice_is_always_one_of_the_view(line: str, names: list[str]) -> None:
    meaning = read_choice(line, view(tuple(names)))
    assert not isinstance(meaning, Chosen) or meaning.value in names


@given(st.lists(st.text(min_size=1, max_size=20).map(str.strip).filter(bool), min_size=1, unique=True), st.data())
def test_every_name_typed_exactly_is_chosen(names: list[str], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(names))
    assert read_choice(f"  {name} ", view(tuple(names))) == Chosen(name)

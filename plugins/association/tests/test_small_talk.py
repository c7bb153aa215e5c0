"""What is said around a list is told from its items."""

from __future__ import annotations

import pytest

from creval_association.small_talk import is_small_talk, without_opening


@pytest.mark.parametrize(
    "line",
    [
        "Sure!",
        "Of course.",
        "Here are ten words",
        "Ten words:",
        "I hope this helps!",
        "Let me know if you need more",
        "Enjoy!",
    ],
)
def test_talk_about_a_list_is_distinguished_from_its_items(line):
    assert is_small_talk(line)
    assert not any(map(is_small_talk, ("sure", "ocean", "note", "hope", "Doorstop", "let", "hope chest")))


def test_an_opening_goes():
    assert without_opening("Sure! ocean, lamp") == "ocean, lamp"
    assert without_opening("sure, ocean, lamp") == "sure, ocean, lamp"

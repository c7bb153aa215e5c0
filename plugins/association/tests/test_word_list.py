"""Word lists are read however they are written, and the route says how."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval_association.word_list import WordList

WORDS = ["ocean", "justice", "hammer", "cul-de-sac", "laughter"]
JSON = '["ocean", "justice", "hammer", "cul-de-sac", "laughter"]'


@pytest.mark.parametrize(
    ("answer", "route"),
    [
        (JSON, "json_array"),
        (f"  \n{JSON}\n", "json_array"),
        (f"```json\n{JSON}\n```", "json_array/fenced"),
        (f"Sure! Here they are:\n```\n{JSON}\n```\nHope it helps [a lot].", "json_array/fenced"),
        (f"Here you go: {JSON} Enjoy!", "json_array/embedded"),
        (f'{{"words": {JSON}}}', "json_array/object"),
        (f'["word1", "word2"]\n{JSON}', "json_array/embedded"),
        (f'["justice", "hammer", "ocean", "laughter", "x"] No, better:\n{JSON}', "json_array/embedded"),
        (f"See [1]. {JSON}", "json_array/embedded"),
        ("['ocean', 'justice', 'hammer', 'cul-de-sac', 'laughter',]", "json_array/quoted"),
        ("1. ocean\n2. justice\n3) hammer\n4: cul-de-sac\n5. laughter", "marked_lines"),
        ("Ten words:\n- **ocean** - vast water\n- justice: a virtue\n- hammer (tool)\n- cul-de-sac\n- laughter.", None),
        ("ocean, justice, hammer, cul-de-sac, and laughter.", "commas"),
        ("My words: ocean, justice, hammer, cul-de-sac, laughter", "commas"),
        ("Thinking about it.\n[ocean, justice, hammer, cul-de-sac, laughter]", "commas"),
        ("ocean\njustice\nhammer\n\ncul-de-sac\nlaughter\n", "lines"),
    ],
)
def test_ways_of_writing_a_list(answer: str, route: str | None) -> None:
    parsed = WordList().parse(answer)
    assert parsed.ok, parsed.reason
    assert parsed.value == WORDS
    assert parsed.route == (route or "marked_lines")


@pytest.mark.parametrize(
    "answer",
    [
        "I am sorry, I can't help with that.",
        "",
        "word",
        "Well, to be honest, I would rather think about this for a while, and then answer the question, if I may.",
        "{}",
        "[]",
        "[1, 2, 3]",
    ],
)
def test_what_is_no_list_has_a_reason(answer: str) -> None:
    parsed = WordList().parse(answer)
    assert not parsed.ok and parsed.reason and parsed.value is None


def test_a_cut_array_is_still_no_prose() -> None:
    """Cut at the token limit: the sample ends as truncated; the parser must not fail on it either way."""
    assert WordList().parse('["ocean", "justice", "ham').ok in (True, False)


def test_repeats_are_kept_for_the_scorer() -> None:
    assert WordList().parse('["a", "a", "b"]').value == ["a", "a", "b"]


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=400))
def test_no_text_breaks_the_parser(text: str) -> None:
    parsed = WordList().parse(text)
    assert parsed.ok == (parsed.value is not None)
    if parsed.ok:
        assert all(isinstance(item, str) for item in parsed.value) and len(parsed.value) >= 2


def test_hostile_text_is_read_in_bounded_time() -> None:
    for text in ("[" * 200_000, '["a",' * 50_000, "1. " * 100_000, ", " * 200_000, "-" * 300_000, "{[" * 10_000):
        WordList().parse(text)

"""Characters that nobody sees, in prose and inside JSON."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parsing.test_chain import chain

from creval.parsing.chain import value_without_unseen, without_unseen

INSIDE_WORDS = [
    *("\u200b", "\ufeff", "\u00ad", "\u2060", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069"),
    *("\u061c", "\u180e", "\u034f", "\u2063", "\ufff9", "\u115f", "\u3164", "\x00", "\x1b"),
]
SEPARATORS = ["\u2028", "\u2029", "\u0085"]


@pytest.mark.parametrize("unseen", INSIDE_WORDS)
@pytest.mark.parametrize(
    ("parser", "text", "value"),
    [
        ("lines", "an{}chor\nre{}ef", ["anchor", "reef"]),
        ("json_array", '["an{}chor", "re{}ef"]', ["anchor", "reef"]),
        ("json_array", '{}["anchor", "reef"]', ["anchor", "reef"]),
    ],
)
def test_they_are_dropped_inside_words(unseen: str, parser: str, text: str, value: list[str]) -> None:
    assert chain(parser).parse(text.replace("{}", unseen)).value == value


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize(
    ("parser", "text", "value"),
    [
        ("lines", "anchor{}reef{}lens", ["anchor", "reef", "lens"]),
        ("lines", 'the "reef",{}the "lens"', ['the "reef",', 'the "lens"']),
        ("json_array", '[{}"anchor",{}"reef"{}]', ["anchor", "reef"]),
        ("json_array", 'Here it is:{}```json{}["anchor", "reef"]{}```', ["anchor", "reef"]),
    ],
)
def test_a_separator_ends_a_line_of_prose(separator: str, parser: str, text: str, value: list[str]) -> None:
    assert chain(parser).parse(text.replace("{}", separator)).value == value


@pytest.mark.parametrize("separator", [*SEPARATORS, *(f"\\u{ord(each):04x}" for each in SEPARATORS)])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('["an{}chor", "reef"]', ["anchor", "reef"]),
        ('["reef", "an{}chor"]', ["reef", "anchor"]),
        ('["{}anchor", "reef{}"]', ["anchor", "reef"]),
        ('["wear it{}as a hat", "burn it"]', ["wear it as a hat", "burn it"]),
        ('{"words": ["an{}chor", "re{}ef"]}', ["anchor", "reef"]),
        ('The words: ["an{}chor","reef"]', ["anchor", "reef"]),
    ],
)
def test_a_separator_inside_a_text_of_json(separator: str, text: str, value: list[str]) -> None:
    assert chain("json_array").parse(text.replace("{}", separator)).value == value


def test_names_of_objects_are_cleaned() -> None:
    assert value_without_unseen({"wo\u2028rd": ["a\u2028b", 1, None]}) == {"word": ["ab", 1, None]}


@settings(max_examples=60)
@given(st.text(st.sampled_from('ab "\\[]{},:\n\u2028\u2029\x85\u200b\ufeff\xad'), max_size=40))
def test_no_such_character_is_left(text: str) -> None:
    left = set("\u2028\u2029\x85\u200b\ufeff\xad")
    assert not left & set(without_unseen(text)) and not left & set(value_without_unseen(text))
    assert [c for c in without_unseen(text) if not c.isspace()] == [
        c for c in text if not c.isspace() and c not in left
    ]


@pytest.mark.parametrize("escape", ["\\u200b", "\\u00ad", "\\u2028"])
def test_an_escape_in_json_is_gone_before_words_are_cleaned(escape: str) -> None:
    parsed = chain("json_array", "words").parse(f'["an{escape}chor", "reef"]')
    assert parsed.value == ["anchor", "reef"]
    assert parsed.route is not None and parsed.route.startswith("unseen > json_array")

"""Parsers tagged, regex, lines, words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.errors import ScoringError, UsageError
from creval.parsing.lists import Lines, Text, Words
from creval.parsing.pattern import MAX_SLOW, MAX_TEXT, Regex, Tagged, expanded_size, has_nested_repeats

# --- tagged -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "value"),
    [
        ("<answer> x </answer>", {}, "x"),
        ("<answer>a</answer> no, <ANSWER>b</Answer>", {}, "b"),
        ("<answer>a</answer> no, <answer>b</answer>", {"choose": "first"}, "a"),
        ("<answer>a</answer> no, <answer>b", {}, "a"),
        ("<answer>a</answer> no, <answer>b", {"closing": "optional"}, "b"),
        ("<sol>a</sol>", {"tag": "sol"}, "a"),
    ],
)
def test_tagged(text, options, value):
    assert Tagged(**options).parse(text).value == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x", "no <answer> in the answer"),
        ("<answer>x", "<answer> is never closed"),
        ("<answer> </answer>", "<answer> is empty"),
    ],
)
def test_tagged_failures(text, reason):
    assert Tagged().parse(text).reason == reason


def test_a_tag_is_a_word():
    with pytest.raises(UsageError, match="not a tag name"):
        Tagged(tag="<a>")


# --- regex ------------------------------------------------------------------------------------------


def test_regex_groups_and_choices():
    text = "x=1 y=2 x=3"
    assert Regex(r"x=(\d)").parse(text).value == "1"
    assert Regex(r"x=(\d)", choose="last").parse(text).value == "3"
    assert Regex(r"x=(\d)", choose="all").parse(text).value == ["1", "3"]
    assert Regex(r"(?P<name>\w)=(\d)", group="name", choose="all").parse(text).value == ["x", "y", "x"]
    assert Regex(r"\w=\d", group=0).parse(text).value == "x=1"
    assert Regex("X=", ignore_case=True).parse(text).ok
    assert Regex("^b$", multiline=True).parse("a\nb").ok
    assert Regex("a.b", dotall=True).parse("a\nb").ok
    assert Regex("nope").parse(text).reason == "the pattern matches nothing"


@pytest.mark.parametrize("pattern", ["[0-9]*", "(?:4|42)?", "([0-9]*)", "(?:is )?([0-9]*)$"])
@pytest.mark.parametrize("choose", ["first", "last", "all"])
def test_a_match_of_no_text_is_passed_over(pattern, choose):
    found = Regex(pattern, choose=choose).parse("The answer is 42").value
    assert "".join(found) in ("42", "4")
    assert Regex(pattern, choose=choose).parse("The answer is no number").reason == "the pattern matches nothing"


@pytest.mark.parametrize("wrong", [{"pattern": "("}, {"pattern": "a", "group": 2}, {"pattern": "a", "group": "g"}, {}])
def test_a_wrong_pattern_is_refused_when_the_task_is_read(wrong):
    with pytest.raises(UsageError):
        Regex(**wrong)


@pytest.mark.parametrize("pattern", [r"(a|aa)+$", r"(.*a){20}$"])
def test_an_exploding_pattern_is_stopped(pattern, monkeypatch):
    monkeypatch.setattr("creval.parsing.pattern.TIME_LIMIT", 0.2)
    slow = Regex(pattern)
    text = "a" * 5_000 + "!"
    for _ in range(MAX_SLOW):
        with pytest.raises(ScoringError, match=r"took longer than 0\.2 s"):
            slow.parse(text)
    # It is given up: not even a text that it could read is tried.
    with pytest.raises(ScoringError, match=f"given up after {MAX_SLOW} texts"):
        slow.parse("a")


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(?:\w+\s*)+x", r"((?:ab|c*)d?)*", r"(?=(a*)+)b", r"(x|(?:y+)*)z"])
def test_repeats_inside_repeats_are_found(pattern):
    assert has_nested_repeats(pattern)


@pytest.mark.parametrize("pattern", [r"a+b+", r"(?:a{1,3})+", r"(\d+)-(\d+)", r"[a+]+", r"(?:ab)+c*", r"\(a+\)+"])
def test_repeats_next_to_repeats_are_none_inside(pattern):
    assert not has_nested_repeats(pattern)


@pytest.mark.parametrize(
    "pattern", ["((((a{99}){99}){99}){99}){99}", "(?:a{1000}){1000}", "(?R)", "(a)(?:b){e<=3}(?1)"]
)
def test_a_pattern_that_would_fill_the_memory_is_refused(pattern):
    with pytest.raises(UsageError):
        Regex(pattern)


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        ("a", 1),
        ("a{100}", 100),
        ("(?:a{100}b){50}", 50 * 104),
        (r"[^\]]{2,3}\{2}", 6),
        (r"\d{4}-\d{2}", 7),
        ("a{3,}", 3),
    ],
)
def test_the_size_of_a_pattern_multiplies_its_counted_repeats(pattern, size):
    assert expanded_size(pattern) == size


def test_a_long_text_is_refused_by_a_pattern():
    assert not Regex("a").parse("a" * (MAX_TEXT + 1)).ok


# --- lines and text ---------------------------------------------------------------------------------


def test_lines():
    text = "Sure:\n1. one\n 2) two \n\n- three\n* **four**\n```\n"
    assert Lines().parse(text).value == ["Sure:", "one", "two", "three", "**four**"]
    assert Lines(marked=True).parse(text).value == ["one", "two", "three", "**four**"]
    assert Lines(marked=True, keep_marks=True, limit=1).parse(text).value == ["1. one"]
    assert Lines(minimum=9).parse(text).reason == "9 lines needed, 5 found"
    assert Lines().parse("3.5 metres").value == ["3.5 metres"]
    assert Text().parse(" a ").value == "a"


# --- words ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("Apple", ["apple"]),
        ("1. apple", ["apple"]),
        ("12) “apple”", ["apple"]),
        ("- **apple**", ["apple"]),
        ('"apple",', ["apple"]),
        ("mother-in-law", ["mother-in-law"]),
        ("o’clock", ["o'clock"]),
        ("'tis", ["tis"]),
        ("apple: a fruit", ["apple"]),
        ("apple (fruit)", ["apple"]),
        ("apple – a fruit", ["apple"]),
        ("apple - a fruit", ["apple"]),
        ("éclair", ["éclair"]),
        ("яблоко", ["яблоко"]),
        ("ice cream", []),
        ("x", []),
        ("h2o", []),
        ("-", []),
        ("rock-", []),
        ("", []),
        ("42", []),
    ],
)
def test_a_word_is_cleaned_or_left_out(item, words):
    assert Words(minimum=0).parse([item]).value == words


@pytest.mark.parametrize(
    ("multiword", "words"),
    [
        ("drop", ["tea"]),
        ("keep", ["ice cream", "tea"]),
        ("first", ["ice", "tea"]),
        ("split", ["ice", "cream", "tea"]),
    ],
)
def test_items_of_several_words(multiword, words):
    assert Words(multiword=multiword).parse(["Ice cream", "tea"]).value == words


def test_limit_counts_valid_unique_words_and_minimum_is_a_failure():
    items = ["A1", "apple", "Apple", "pear", "plum"]
    assert Words(limit=2).parse(items).value == ["apple", "pear"]
    assert Words(limit=2, unique=False).parse(items).value == ["apple", "apple"]
    assert Words(minimum=7).parse(items).reason == "7 words needed, 3 found"
    assert Words(lower=False).parse(["Apple", "apple"]).value == ["Apple"]
    assert not Words().parse({"a": 1}).ok
    assert Words(minimum=0).parse([1, None, ["x"]]).value == []


WORD = st.from_regex(r"[a-z]{2,8}(?:-[a-z]{2,8})?", fullmatch=True)


@given(
    st.lists(WORD, min_size=1, max_size=10, unique=True), st.sampled_from(["{i}. {w}", "- {w}", "* **{w}**", '"{w}",'])
)
def test_words_survive_every_way_to_write_a_list(words, form):
    text = "\n".join(form.format(i=i + 1, w=word.capitalize()) for i, word in enumerate(words))
    assert Words().parse(text.rstrip(",")).value == words


@given(st.lists(st.text(max_size=30), max_size=20))
def test_words_are_clean_unique_and_stable(items):
    words = Words(minimum=0).parse(items).value
    assert len({word.casefold() for word in words}) == len(words)
    assert all(not set(word) & set(' \t\n"`*_.,:;()') for word in words)

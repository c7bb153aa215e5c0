"""Lists on one line, separators of other scripts, and placeholders of items."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.parsing.json.values import JsonArray
from creval.parsing.lists import Lines, Words, is_no_item, one_item_a_line, plain_separators
from creval.parsing.refusal import REFUSAL_ROUTE, is_refusal

ITEM = st.text("abcdefgh xyz", min_size=1, max_size=12).map(str.strip).filter(bool)


@given(
    st.lists(ITEM, min_size=3, max_size=20), st.sampled_from(["{}) {}", "{}. {}", "({}) {}", "**{}.** {}"]), st.data()
)
def test_a_numbered_list_on_one_line_has_its_items(items: list[str], mark: str, data: st.DataObject) -> None:
    joint = data.draw(st.sampled_from([" ", ", ", "; "]))
    line = joint.join(mark.format(number, item) for number, item in enumerate(items, 1))
    assert len(one_item_a_line(line).splitlines()) == len(items)
    assert one_item_a_line(one_item_a_line(line)) == one_item_a_line(line)


@given(st.text(max_size=200))
def test_nothing_but_line_breaks_is_added(text: str) -> None:
    assert "".join(one_item_a_line(text).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "line",
    ["use 2) things", "Open at 1.5 metres and 2.5 metres", "in 1. place", "3) a 4) b", "see 1) there", "1. one 2. two"],
)
def test_numbers_in_a_sentence_are_no_list(line: str) -> None:
    assert one_item_a_line(line) == line


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("1) fan 2) lamp", ["fan", "lamp"]),
        ("a) fan b) lamp c) rug", ["fan", "lamp", "rug"]),
        ("①fan ②lamp", ["fan", "lamp"]),
        ("1、苹果 2、香蕉 3、橙子", ["苹果", "香蕉", "橙子"]),
        ("fan\nN/A\n- none\nlamp\n[refused]", ["fan", "lamp"]),
    ],
)
def test_lines(text: str, items: list[str]) -> None:
    assert Lines().parse(text).value == items


def test_words_at_separators_of_any_script() -> None:
    for text in ("苹果、香蕉、橙子", "苹果，香蕉；橙子", "تفاح، موز؛ رمان"):
        assert len(Words().parse(text).value) == 3
    assert Words().parse("fan, N/A, lamp, [refused], none").value == ["fan", "lamp"]
    assert plain_separators("1、山、海") == "1、山,海"


@pytest.mark.parametrize(
    "mark",
    ["N/A", "n/a", "n.a.", "NA", "None", "none.", "[none]", "[refused]", "(declined)", "No answer", "<empty>", "null"],
)
def test_marks_are_no_items(mark: str) -> None:
    assert is_no_item(mark)


@pytest.mark.parametrize("item", ["nothing to hold", "na", "nonetheless", "refuse bin", "fan [refused]", "blanket", ""])
def test_what_only_looks_like_a_mark_is_an_item(item: str) -> None:
    assert not is_no_item(item)


def test_a_word_stays_a_word() -> None:
    """`nothing` may be in a list of words; in brackets it is a mark there too."""
    assert (is_no_item("nothing"), is_no_item("nothing", words=True), is_no_item("[null]", words=True)) == (
        True,
        False,
        True,
    )


@pytest.mark.parametrize("answer", ["[refused]", "(Refused)", "<declined>", "[ refused ]."])
def test_a_mark_alone_is_a_refusal(answer: str) -> None:
    assert is_refusal(answer)
    assert Lines().parse(answer).route == REFUSAL_ROUTE
    assert not is_refusal(answer.strip("[]()<>. "))


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ('["10" tall", "b"]', ['10" tall', "b"]),
        ('["a 10" nail", "a 12" one", "c"]', ['a 10" nail', 'a 12" one', "c"]),
        ('["a" "b", "c"]', ["a", "b", "c"]),
        ('["it\'s 5" wide", "b",]', ["it's 5\" wide", "b"]),
    ],
)
def test_a_quote_inside_a_text_ends_no_text(text: str, items: list[str]) -> None:
    assert JsonArray().parse(text).value == items

"""Markdown read into blocks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from creval_people.seats.markdown import Block, Span, markdown_blocks, text_blocks


def shape(text: str) -> list[tuple[str, int, str]]:
    return [(block.kind, block.level, "".join(run.text for run in block.runs)) for block in markdown_blocks(text)]


def test_a_guidebook_is_read() -> None:
    text = """# Guide: Medicine

First line
and second.

## Tests
### Blood Test

- If *low*: rule out **Asthma** and `Flu`.
  Continued.
  - deeper
    1. deepest
- outer again

---
end"""
    assert shape(text) == [
        ("heading", 1, "Guide: Medicine"),
        ("paragraph", 0, "First line and second."),
        ("heading", 2, "Tests"),
        ("heading", 3, "Blood Test"),
        ("item", 0, "If *low*: rule out Asthma and Flu. Continued."),
        ("item", 1, "deeper"),
        ("item", 2, "deepest"),
        ("item", 0, "outer again"),
        ("rule", 0, ""),
        ("paragraph", 0, "end"),
    ]


def test_bold_and_code_have_their_style() -> None:
    assert markdown_blocks("a **b** `c` d")[0].runs == (
        Span("a "),
        Span("b", "strong"),
        Span(" "),
        Span("c", "code"),
        Span(" d"),
    )


def test_a_mark_without_its_partner_stays() -> None:
    assert shape("2 ** 3 and `x") == [("paragraph", 0, "2 ** 3 and `x")]


def test_an_indented_paragraph_belongs_to_its_item() -> None:
    assert shape("- one\n\n  more\n\nnew") == [("item", 0, "one more"), ("paragraph", 0, "new")]


def test_a_number_in_a_sentence_is_no_list() -> None:
    assert shape("126-500 mg/dL\n-5 is cold") == [("paragraph", 0, "126-500 mg/dL -5 is cold")]


def test_html_is_text_like_any_other() -> None:
    assert shape("<b>x</b> <script>alert(1)</script>") == [("paragraph", 0, "<b>x</b> <script>alert(1)</script>")]


def test_plain_text_keeps_its_lines() -> None:
    assert text_blocks("# a\n\n b") == [Block("plain", 0, (Span("# a\n\n b"),))]


@given(st.text(st.sampled_from("ab \t\n#-*`_.1)>"), max_size=200))
def test_no_word_of_any_text_is_lost(text: str) -> None:
    letters = "".join(run.text for block in markdown_blocks(text) for run in block.runs)
    assert [c for c in letters if c in "ab"] == [c for c in text if c in "ab"]


@given(st.text(max_size=300))
def test_any_text_is_read_and_levels_stay_in_bounds(text: str) -> None:
    for block in markdown_blocks(text):
        assert 0 <= block.level <= 6
        assert all(run.text for run in block.runs)


def test_a_long_line_of_marks_is_read_in_no_time() -> None:
    assert shape("*" * 200_001 + "a")[0][2].endswith("a")

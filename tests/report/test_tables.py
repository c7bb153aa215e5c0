"""Tables at any width: neither a word nor a number breaks."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from creval.report.output_files import markdown_text
from creval.report.terminal_tables import cut, line_width, print_table

COLUMNS = ("task", "metric", "value", "95 % interval", "n", "samples")
ROWS = [
    ("drat_conceptnet", "drat[embedded/minilm]", 71.31, "70.3 to 72.4", 1250, "1240 scored, 8 unparsed, 2 truncated"),
    ("kumo_easy", Text("relative_action_count", style="bold"), -0.2, "-0.31 to -0.09", 5, "5 scored"),
]
PARTS = {"drat_conceptnet", "drat[embedded/minilm]", "71.3", "70.3 to 72.4", "1250", "unparsed,", "-0.31 to -0.09"}


def printed(width: int, rows: list[tuple[object, ...]] = ROWS, fold: tuple[str, ...] = ()) -> str:
    out = io.StringIO()
    print_table("A title of the table", COLUMNS, rows, Console(file=out, width=width, force_terminal=False), fold)
    return out.getvalue()


@pytest.mark.parametrize("width", [20, 40, 60, 70, 80, 100, 240])
def test_nothing_breaks_at_any_width(width: int) -> None:
    text = printed(width)
    for part in PARTS:
        assert any(part in line for line in text.splitlines()), part


def test_a_table_that_fits_is_a_table_and_one_that_does_not_is_blocks() -> None:
    assert "task" in printed(240).splitlines()[2] and len(printed(240).splitlines()) < 10
    assert any(line.split() == ["metric", "drat[embedded/minilm]"] for line in printed(50).splitlines())


def test_markdown_shows_every_sign_and_starts_no_formula_entity_or_list() -> None:
    text = markdown_text(["a"], [["$5 & $6 &copy; x^2^ | y"]], ["- 1 of 2", "1. a", "2.5 - 3"])
    assert r"\$5 \& \$6 \&copy; x\^2\^ \| y" in text
    assert text.endswith("\n\\- 1 of 2  \n1\\. a  \n2.5 - 3\n")


def test_an_empty_table() -> None:
    assert "task" in printed(80, [])


@pytest.mark.parametrize("name", ["suite/some_long_task_of_mine", "模型模型模型/模型模型模型/模型模型模型"])
def test_names_fold_to_the_terminal_and_are_whole_in_blocks(name: str) -> None:
    rows: list[tuple[object, ...]] = [(name, "quality[a/resource-of-a-long-name]", 0.5, "0.1 to 0.9", 5, "5 scored")]
    for width in (80, 100):
        lines = printed(width, rows, COLUMNS[:2]).splitlines()
        assert "value" in (head := next(line for line in lines if "samples" in line)) and "samples" in head
        assert max(map(line_width, lines)) <= width
    assert any(line.split() == ["task", name] for line in printed(30, rows, COLUMNS[:2]).splitlines())


def test_a_text_is_cut_at_columns_of_the_terminal() -> None:
    for text in ("模型" * 40, "\x1b[31m" * 20, "a b" * 40):
        assert 18 <= line_width(cut(text, 20)) <= 20 and cut(text, 20)[-2:].strip("…").strip()
    assert cut(" a\n b ", 20) == "a b"

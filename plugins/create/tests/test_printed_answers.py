"""The raw answers that the paper prints in Tables 9 to 14, read and checked path by path."""

from __future__ import annotations

import pytest

from creval_create.paths.validity import RULES, Target, faults
from creval_create.reading.answer import read_answer

TARGET = Target("Kareem Abdul-Jabbar", "member of", "American Academy of Arts and Sciences")

# table: printed, readable, triples in the readable, valid under (strict, shared, released)
WORKED = {
    9: (28, 28, 86, (28, 28, 28)),
    10: (6, 6, 24, (3, 5, 5)),
    11: (20, 19, 89, (19, 19, 19)),
    13: (20, 20, 60, (18, 18, 20)),
    14: (5, 4, 8, (4, 4, 4)),
}
REFUSED_BY_STRICT = {10: {"3", "5", "6"}, 13: {"11", "15"}}


def answer_of(paper: str, table: int) -> str:
    """The reply as it stands below the caption of a table."""
    begins = f"Table {table}. {'Prompt variation' if table > 12 else 'Examples of raw'}"
    start = paper.index("\n\n", paper.index(begins))
    return paper[start : paper.index(f"\nTable {table + 1}. ", start)]


@pytest.mark.parametrize("table", WORKED)
def test_a_printed_answer_is_read_path_by_path(paper: str, table: int) -> None:
    reading = read_answer(answer_of(paper, table))
    printed, readable, triples, valid = WORKED[table]
    assert len(reading.paths) == readable
    assert len(reading.paths) + len(reading.unread) == printed
    assert sum(len(found.path) for found in reading.paths) == triples
    refused = {rule: {f.key for f in reading.paths if faults(f.path, TARGET)[rule]} for rule in RULES}
    assert tuple(readable - len(refused[rule]) for rule in RULES) == valid
    assert refused["strict"] == REFUSED_BY_STRICT.get(table, set())


def test_the_unreadable_ones_are_those_with_a_broken_quotation_mark(paper: str) -> None:
    for table, key in ((11, "12"), (14, "5")):
        (unread,) = read_answer(answer_of(paper, table)).unread
        assert unread.key == key and "do not pair" in unread.reason
        assert unread.text.startswith(f'"{key}": ')


def test_probabilities_of_verbalized_sampling_are_kept(paper: str) -> None:
    reading = read_answer(answer_of(paper, 14))
    assert [found.probability for found in reading.paths] == [0.34, 0.24, 0.16, 0.15]


def test_names_with_apostrophes_commas_and_parentheses(paper: str) -> None:
    nine = {found.key: found.path for found in read_answer(answer_of(paper, 9)).paths}
    assert nine["16"][1] == ("Presidential Medal of Freedom", "awarded to", "Sandra Day O’Connor")
    assert nine["1"][0][2] == "University of California, Los Angeles"
    assert nine["25"][0][2] == "Muhammad Ali (2021 documentary)"

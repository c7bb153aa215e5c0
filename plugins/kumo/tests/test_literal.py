"""The reader of plain data: what Python would read, and nothing that could be run, however hostile the text."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval_kumo.published.literal import IncompleteText, LiteralError, read_assignments, read_value

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=12)
SCALARS = st.one_of(TEXTS, st.integers(-(10**12), 10**12), st.floats(allow_nan=False, allow_infinity=False))
HASHABLE = st.one_of(SCALARS, st.tuples(SCALARS, SCALARS))
VALUES = st.recursive(
    st.one_of(SCALARS, st.booleans(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(HASHABLE, inner, max_size=4),
        st.sets(HASHABLE, max_size=4),
    ),
    max_leaves=20,
)


@given(VALUES)
@settings(max_examples=300)
def test_what_python_writes_is_read_back(value: Any) -> None:
    assert read_value(repr(value)) == value


@given(VALUES, st.integers(0, 400))
@settings(max_examples=300)
def test_a_text_that_breaks_off_is_incomplete_or_still_right(value: Any, cut: int) -> None:
    """Cut anywhere inside, the reader asks for more; it never makes up an end."""
    text = f"Truths = {value!r}\nEnd = 1\n"
    part = text[:cut]
    if len(part) < len(text) - 1:
        with pytest.raises(IncompleteText):
            read_assignments(part, ["Truths", "End"])


@given(st.text(max_size=200))
@settings(max_examples=300)
def test_no_text_does_more_than_raise(text: str) -> None:
    for read in (read_value, lambda part: read_assignments(part, ["Truths"])):
        try:
            read(text)
        except LiteralError:
            pass


@given(st.text("[](){}'\",:=+-.#\\ \nabs01", max_size=60))
@settings(max_examples=500)
@pytest.mark.filterwarnings("ignore:invalid escape sequence")
def test_nothing_is_read_that_python_reads_otherwise(text: str) -> None:
    """Where both this reader and Python's literal_eval read a text, they read the same."""
    try:
        ours = read_value(text + "\n")
        theirs = ast.literal_eval(text.strip())
    except (LiteralError, SyntaxError, ValueError):
        return
    if isinstance(theirs, tuple) and not isinstance(ours, tuple):
        theirs = theirs[0]  # a tuple without brackets: here the first value counts
    assert ours == theirs


@pytest.mark.parametrize(
    "text",
    [
        "Truths = __import__('os').system('true')",
        "Truths = [open('/etc/passwd')]",
        "Truths = exec('x')",
        "Truths = (lambda: 1)()",
        "Truths = f'{1}'",
        "Truths = b'x'",
        "Truths = [x for x in range(3)]",
        "Truths = {**{}}",
        "Truths = 1 + 1",
        "Truths = 1 if True else 2",
        "Truths = set([1, [2]])",
        "Truths = {[1]: 2}",
        "Truths = {'a': 1, 'a': 2}",
        "Truths = {'a': 1, 'b'}",
        "Truths = [1 2]",
        "Truths = 'a' 1",
        "Truths = '''a'''",
        "Truths = 'a\nb'",
        "Truths = '\\ud800'",
        "Truths = float('inf')",
        "Truths = ...",
        "Truths = [1, ...]",
        "Truths := 1",
        "Truths: list = []",
        "import os\nTruths = []",
        "print(1)\nTruths = []",
        "Truths = []; Actions = []",
        "Truths = []\nTruths = []\nActions = []",
        "Truths += []",
        "Truths[0] = 1",
        "Truths = []  Actions = []",
    ],
)
def test_whatever_is_no_plain_data_is_refused(text: str) -> None:
    with pytest.raises(LiteralError) as caught:
        read_assignments(text, ["Truths", "Actions"])
    assert not isinstance(caught.value, IncompleteText)
    assert str(caught.value).startswith(f"line {caught.value.line}: ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a remark",
        "Truths",
        "Truths =",
        "Truths = [",
        "Truths = ['a",
        "Truths = ['a',",
        "Truths = -",
        "Tru",
        "Truths = {'a': ",
        "Truths = set(",
        "Truths = set([1]",
        "Truths = []\nActions = {'x'",
        "Truths = ['a'] # and",
    ],
)
def test_what_breaks_off_is_distinguished(text: str) -> None:
    with pytest.raises(IncompleteText):
        read_assignments(text, ["Truths", "Actions"])


def test_remarks_line_breaks_and_joined_strings_are_understood() -> None:
    text = "# one\nTruths = [  # two\n 'a'\n  'b',\n\n \"c\",\n]\n"
    text += "Actions = {'x': set(), 'y': set(['p']), -1.5e2: ()}\nrest ("
    read = read_assignments(text, ["Truths", "Actions"])
    assert read == {"Truths": ["ab", "c"], "Actions": {"x": set(), "y": {"p"}, -150.0: ()}}


def test_bounds() -> None:
    with pytest.raises(LiteralError, match="more than 12 brackets"):
        read_value("[" * 100_000)
    with pytest.raises(LiteralError, match="longer than 2000000 characters"):
        read_value("1" * 2_000_001)


@pytest.mark.parametrize(
    "text",
    [
        "-" * 50_000 + "1",
        "'" + "\\\\" * 50_000,
        "[" + "'a' " * 20_000,
        "#" * 1_000_000,
        "1" + "+1" * 200_000,
        "a" + ".b" * 200_000,
        "not " * 200_000 + "1",
    ],
)
def test_long_runs_take_linear_time(text: str) -> None:
    with pytest.raises(LiteralError):
        read_value(text)

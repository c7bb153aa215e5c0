"""Shapes that answers take, and hostile ones: what is read, what is refused, and that nothing is guessed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval_create.paths.validity import Target, faults
from creval_create.reading.answer import read_answer
from creval_create.reading.parser import AnswerPaths

ONE = (("A", "r", "B"),)
TWO = (("A", "r", "B"), ("B", "s", "C"))


def paths(text: str) -> list[tuple[tuple[str, str, str], ...]]:
    reading = read_answer(text)
    assert not reading.unread, reading.unread
    return [found.path for found in reading.paths]


@pytest.mark.parametrize(
    "text",
    [
        '<answer>{"1": [["A", "r", "B"], ["B", "s", "C"]]}</answer>',
        '{"1": [["A", "r", "B"], ["B", "s", "C"]]}',
        '< answer >{"1": [["A", "r", "B"], ["B", "s", "C"]]}< /answer >',
        '<ANSWER>{"1": [["A", "r", "B"], ["B", "s", "C"]]}',
        '{"1": [["A", "r", "B"], ["B", "s", "C"]]}</answer>',
        'Sure!\n```json\n{"1": [["A", "r", "B"], ["B", "s", "C"]]}\n```\nMore?',
        "<think>{\"1\": [['X', 'x', 'X']]}</think><answer>{1: [('A', 'r', 'B'), ('B', 's', 'C')]}</answer>",
        'I put it in <answer> tags. <answer>{"1": [["A", "r", "B"], ["B", "s", "C"],],}</answer>',
        "{1: [(A, r, B), (B, s, C)]}",
        "1. (A, r, B), (B, s, C)",
        "1) [A, r, B] -> [B, s, C]",
        'Path 1: [("A", "r", "B") ("B", "s", "C")]',
        '{"path_1": [["A", "r", "B"], ["B", "s", "C"]]}',
        '{"1": {"path": [["A", "r", "B"], ["B", "s", "C"]], "path_probability": 1.0}}',
        '[{"path": [["A", "r", "B"], ["B", "s", "C"]]}]',
        '[[["A", "r", "B"], ["B", "s", "C"]]]',
        '[["A", "r", "B"], ["B", "s", "C"]]',
        '{"paths": [[["A", "r", "B"], ["B", "s", "C"]]]}',
        '{"first": [["A", "r", "B"], ["B", "s", "C"]]}',
        '{"1": [{"head": "A", "relationship": "r", "tail": "B"}, {"subject": "B", "predicate": "s", "object": "C"}]}',
        '{"1": ["(A, r, B)", "(B, s, C)"]}',
        "{“1”: [[“A”, “r”, “B”], [“B”, “s”, “C”]]}",
        '{"1": [["A", "r", "B"], // the first\n ["B", "s", "C"]] /* done */}',
    ],
)
def test_one_path_in_many_shapes(text: str) -> None:
    assert paths(text) == [TWO]


@pytest.mark.parametrize(("said", "probability"), [("0.5", 0.5), ('"0.5"', 0.5), ("true", None), ("2", None)])
def test_a_probability_is_a_number(said: str, probability: float | None) -> None:
    text = f'{{"1": {{"path": [["A", "r", "B"]], "path_probability": {said}}}}}'
    assert [found.probability for found in read_answer(text).paths] == [probability]


@pytest.mark.parametrize("text", ['{"1": ["A", "r", "B"]}', "1: (A, r, B)", '{"1": [["A", "r", "B"]]}'])
def test_a_path_of_one_triple(text: str) -> None:
    assert paths(text) == [ONE]


@pytest.mark.parametrize(
    "name",
    [
        'Edward "Ted" Kennedy',
        "Washington, D.C.",
        "The Man with No Name (film, 1966)",
        "https://example.org/AC//DC",
        "JSON (json)",
        "Ключевский",
        "紫式部",
        "O'Brien's",
        "a [b], {c}",
        "1: [x",
    ],
)
def test_names_that_look_like_syntax(name: str) -> None:
    assert paths(json.dumps({"1": [[name, "r", "B"]]})) == [((name, "r", "B"),)]
    assert paths(json.dumps({"1": [[name, "r", "B"]]}, ensure_ascii=False)) == [((name, "r", "B"),)]


def test_marks_inside_a_name_are_read_where_they_pair() -> None:
    assert paths("""{1: [("Edward "Ted" Kennedy", 'r', 'O'Brien')]}""") == [(('Edward "Ted" Kennedy', "r", "O'Brien"),)]
    reading = read_answer('{1: [("Songs "A", "B" by C", "x")], 2: [("A", "r", "B")]}')
    assert [found.path for found in reading.paths] == [ONE]
    assert [found.key for found in reading.unread] == ["1"]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ('[["A", "r"]]', "triple 1 has 2 parts"),
        ('[["A", "r", "B"], ["B", "s", "C", "D"]]', "triple 2 has 4 parts"),
        ('[["A", "r", "B"], "B"]', "triple 2 is not a list of three"),
        ('[["A", "", "B"]]', "triple 1 has a part that is not a name"),
        ('[["A", null, "B"]]', "triple 1 has a part that is not a name"),
        ("[]", "no triples"),
        ('["A", "r", "B", "s", "C"]', "triple 1 has 5 parts"),
        ('[["A", "r", "B]]', "breaks off in a name"),
        ('[[A", "r", "B"]]', "do not pair"),
        ('[{"a": "A", "b": "r", "c": "B"}]', "triple 1 has a part 'a'"),
    ],
)
def test_a_broken_path_costs_the_others_nothing(broken: str, reason: str) -> None:
    reading = read_answer('{"1": [["A", "r", "B"]], "2": ' + broken + ', "3": [["A", "r", "B"], ["B", "s", "C"]]}')
    assert [found.path for found in reading.paths] == [ONE, TWO]
    assert [found.key for found in reading.paths] == ["1", "3"]
    (unread,) = reading.unread
    assert unread.key == "2"
    if reason != "breaks off in a name":  # here the next mark ends the name, and what follows does not fit
        assert reason in unread.reason


def test_a_cut_answer_keeps_its_whole_paths() -> None:
    whole = '<answer>{"1": [["A", "r", "B"]], "2": [["A", "r", "B"], ["B", "s", '
    reading = read_answer(whole)
    assert [found.path for found in reading.paths] == [ONE]
    assert [(found.key, found.reason) for found in reading.unread] == [("2", "breaks off")]


def test_two_equal_keys_are_two_paths() -> None:
    assert paths('{"1": [["A", "r", "B"]], "1": [["A", "r", "B"], ["B", "s", "C"]]}') == [ONE, TWO]


def test_a_list_with_a_broken_path_keeps_the_others() -> None:
    reading = read_answer('[[["A", "r", "B"]], [["A", "r" "B"], ["B", "s", "C"]], [["A", "r", "B"], ["B", "s", "C"]]]')
    assert [found.path for found in reading.paths] == [ONE, TWO]
    assert len(reading.unread) == 1


@pytest.mark.parametrize("text", ["{}", "<answer>{}</answer>", "<answer> { } </answer>", "```json\n{\n}\n```", "[]"])
def test_an_empty_set_is_an_answer(text: str) -> None:
    reading = read_answer(text)
    assert (reading.paths, reading.unread, reading.problem) == ((), (), None)


@pytest.mark.parametrize(
    "text", ["", "  \n", "I cannot help with that.", "<answer></answer>", '{"1": "none"}', "[see note 1]"]
)
def test_what_holds_no_path_says_so(text: str) -> None:
    reading = read_answer(text)
    assert reading.problem and not reading.paths and not reading.unread


def test_five_hundred_paths() -> None:
    many = {str(i): [["A", "r", f"B{i}"], [f"B{i}", "s", "C"]] for i in range(500)}
    tuples = "{" + ", ".join(f"{i}: [('A', 'r', 'B{i}'), ('B{i}', 's', 'C')]" for i in range(500)) + "}"
    assert paths(json.dumps(many)) == paths(tuples) == [(("A", "r", f"B{i}"), (f"B{i}", "s", "C")) for i in range(500)]


@pytest.mark.parametrize(
    "text",
    [
        "1: [" * 50_000,
        '"1": [["' * 20_000,
        "[[" * 100_000,
        "<answer>" * 30_000,
        "<answer></answer>" * 30_000,
        '{"1": [["a", "' + 'x" y' * 50_000,
        '"1": [["a' + ', "1": [["a' * 20_000,
        "//" * 100_000 + "1: [",
        "1: [ /* " * 30_000,
        "```" * 60_000,
        "{path" * 40_000,
        "1: (a" + " (" * 100_000,
    ],
)
def test_hostile_text_costs_time_in_proportion_to_its_length(text: str) -> None:
    """A quadratic reader needs hours for these."""
    reading = read_answer(text)
    assert not reading.paths


NAMES = st.text(min_size=1, max_size=20).map(str.strip).filter(bool)
PATHS = st.lists(st.tuples(NAMES, NAMES, NAMES), min_size=1, max_size=4).map(tuple)


@given(st.lists(PATHS, max_size=6))
def test_what_is_written_as_json_is_read_back(made: list[tuple[tuple[str, str, str], ...]]) -> None:
    text = json.dumps({str(i): path for i, path in enumerate(made, 1)})
    assert paths(f"<answer>{text}</answer>") == made


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text: str) -> None:
    read_answer(text)
    read_answer(f'<answer>{{"1": {text}}}</answer>')


@given(st.text(alphabet="[](){}\"'“”,:1 ab/\\#\n", max_size=120))
def test_no_mix_of_signs_breaks_the_reader(text: str) -> None:
    reading = read_answer("1: [" + text)
    for found in reading.paths:
        assert all(len(triple) == 3 and all(part.strip() for part in triple) for triple in found.path)


def test_a_path_that_repeats_a_triple_is_read_and_not_linked() -> None:
    """Its second triple does not begin where the first ends; twice the same with both ends alike would be."""
    (path,) = paths('{"1": [["A", "r", "B"], ["a", "R", "b"], ["B", "s", "C"]]}')
    assert [part.lower() for part in path[0]] == [part.lower() for part in path[1]]
    found = faults(path, Target("A", "s", "C"))
    assert found["strict"] and found["shared"] is found["released"] is None


@pytest.mark.parametrize(
    ("text", "rescued"),
    [
        ('<answer>{"1": [["A", "r", "B"]], "2": [["A", "r", "B"], ["B", "s", "C"]]}</answer>', 0),
        ('```json\n{"1": [["A", "r", "B"]]}\n```', 0),
        ('<answer>```json\n[[["A", "r", "B"]], [["A", "r", "B"], ["B", "s", "C"]]]```</answer>', 0),
        ("<answer>{1: [('A', 'r', 'B')], 2: [('A', 'r', 'B'), ('B', 's', 'C')]}</answer>", 2),
        ('{"1": [["A", "r", "B"]], "1": [["A", "r", "B"], ["B", "s", "C"]]}', 1),  # of equal keys JSON keeps one
        ('{"1": [["A", "r", "B"]], "2": [["A", "r", "B]], "3": [["A", "r", "B"], ["B", "s", "C"]]}', 2),
        ("[" * 5000 + '"1": [["A", "r", "B"]]', 1),
        ("{}", 0),
    ],
)
def test_paths_rescued_from_what_is_no_json(text: str, rescued: int) -> None:
    assert AnswerPaths().parse(text).value["rescued"] == rescued


@pytest.mark.parametrize("key", ["", '""', '"["', '"1["', "one"])
def test_a_path_without_a_number_among_numbered_ones_is_counted_as_unreadable(key: str) -> None:
    said = '{"1": [["A", "r", "B"]], KEY: [["B", "s", "C"]], "3": [["A", "r", "C"]]}'
    reading = read_answer(said.replace("KEY", key))
    assert [found.key for found in reading.paths] == ["1", "3"]
    assert [(lost.key, lost.reason) for lost in reading.unread] == [("?", "has no number")]

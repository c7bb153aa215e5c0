"""Scorers exact_match, includes, numeric."""

from __future__ import annotations

import pytest

from creval.scoring.matching import ExactMatch, Includes, Numeric
from creval.types.components import ScorerInput
from creval.types.sample import Condition, SampleKey


def score(scorer, value, **doc):
    return score_all(scorer, [value], **doc)


def score_all(scorer, values, **doc):
    item = ScorerInput(SampleKey("t", "0", "default", 0), doc, Condition(), values, ["raw"] * len(values), {})
    (found,) = scorer.score([item], None)
    return found


@pytest.mark.parametrize(
    ("scorer", "value", "target", "expected"),
    [
        (ExactMatch(), "club", "club", 1),
        (ExactMatch(), " the  club ", "the club", 1),
        (ExactMatch(), "Club", "club", 0),
        (ExactMatch(ignore_case=True), "Club", "club", 1),
        (ExactMatch(), "club.", "club", 0),
        (ExactMatch(ignore_punctuation=True), "“club.”", "club", 1),
        (ExactMatch(), "b", ["a", "b"], 1),
        (ExactMatch(), "c", ["a", "b"], 0),
        (ExactMatch(), 5.0, "5", 1),
        (ExactMatch(), 5.0, 5, 1),
        (ExactMatch(), "cafe\u0301", "caf\u00e9", 1),
        (Includes(), "it is a club", "club", 1),
        (Includes(), "it is a Club", "club", 0),
        (Includes(ignore_case=True), "it is a Club", "club", 1),
        (Numeric(), "1.5", 1.5, 1),
        (Numeric(), 1.5001, 1.5, 0),
        (Numeric(absolute=0.01), 1.5001, 1.5, 1),
        (Numeric(relative=0.1), 105, 100, 1),
        (Numeric(relative=0.1), 111, 100, 0),
    ],
)
def test_matching(scorer, value, target, expected):
    found = score(scorer, value, target=target)
    assert found.failure is None
    assert found.scores == {scorer.name: float(expected)}


@pytest.mark.parametrize(
    ("value", "target", "expected"),
    [
        (1234567.0, 1234567, 1),
        (1234567.0, "1,234,567", 1),
        (1234567, 1234568.0, 0),
        (19999.99, 19999.96, 0),
        (19999.99, 19999.99, 1),
        (0.1234567, 0.1234569, 0),
        (9007199254740993, 9007199254740992, 0),
        (9007199254740993, 9007199254740992.0, 0),
        ("9007199254740993", 9007199254740993, 1),
        (0.1, "0.10", 1),
        (1e22, "1e22", 1),
        (0.5, "1/2", 1),
        ("1,234", 1234, 1),
        ("2\u202f602", 2602, 1),
        (1.5, 15, 0),
        (-5, 5, 0),
        (0.30000000000000004, 0.3, 0),
        ("four", 4, 0),
    ],
)
def test_numbers_are_compared_as_decimals_by_every_scorer(value, target, expected):
    scorers = [ExactMatch(), ExactMatch(ignore_punctuation=True)]
    if value != "four":
        scorers.append(Numeric())
    for scorer in scorers:
        assert score(scorer, value, target=target).scores == {scorer.name: float(expected)}


@pytest.mark.parametrize(
    ("scorer", "value", "target", "expected"),
    [
        (Numeric(absolute=0.01), 1.51, 1.5, 1),  # in floats they are 0.010000000000000009 apart
        (Numeric(absolute=0.01), 1.511, 1.5, 0),
        (Numeric(relative=1e-9), 12345678901, 12345678902, 1),
        (Numeric(), 12345678901, 12345678902, 0),
        (Numeric(), "20 %", 20, 1),
        (Numeric(), "20 %", 0.2, 0),
        (Numeric(), "42 cm", "42", 1),
        (ExactMatch(), "20 %", 20, 0),
        (ExactMatch(), "1,234", "1234", 0),  # texts are compared as texts
        (ExactMatch(ignore_punctuation=True), "1.5", "15", 0),
        (ExactMatch(ignore_punctuation=True), "-5", "5", 0),
        (ExactMatch(ignore_punctuation=True), ".5", "5", 0),
        (ExactMatch(ignore_punctuation=True), "1/2", "12", 0),
        (ExactMatch(ignore_punctuation=True), "4,2", "42", 0),
        (ExactMatch(ignore_punctuation=True), "v1.5!", "v15", 0),
        (ExactMatch(ignore_punctuation=True), "1,234", "1234", 1),
        (Includes(), "It is 15.", 5, 0),
        (Includes(), "It is 15.", "5", 0),
        (Includes(), "It is 5.5", "5", 0),
        (Includes(), "It is .5", 5, 0),
        (Includes(), "Paris it is", "Par\u00adis", 1),
        (ExactMatch(), "Paris", "\ufeffParis\u200b", 1),
        (Includes(), "It is -5.", 5, 0),
        (Includes(), "-5", "5", 0),
        (Includes(), "x=−5", 5, 0),
        (Includes(), "It is -5.", -5, 1),
        (Includes(), "3-5 of them", 5, 1),
        (Includes(), "It is 5.", 5, 1),
        (Includes(), "It is 5.", "5", 1),
        (Includes(), "It is 1,234,567 of them", 1234567, 1),
        (Includes(), "1234567", 234, 0),
        (Includes(), "x12", "x1", 0),
    ],
)
def test_no_part_of_a_number_counts_as_one(scorer, value, target, expected):
    assert score(scorer, value, target=target).scores == {scorer.name: float(expected)}


@pytest.mark.parametrize(
    ("scorer", "target"),
    [
        (Includes(), ""),
        (Includes(), " \n"),
        (Includes(), ["Paris", ""]),
        (Includes(ignore_punctuation=True), "?!"),
        (Includes(), "\u200b"),
        (ExactMatch(), ""),
        (ExactMatch(), "\t"),
        (ExactMatch(), ["a", " "]),
        (ExactMatch(ignore_punctuation=True), ["…"]),
        (Includes(), []),
        (Numeric(), []),
        (Numeric(), ""),
    ],
)
def test_an_empty_target_is_a_fault_of_the_doc(scorer, target):
    assert "empty" in scorer.doc_fault({"target": target}) or "''" in scorer.doc_fault({"target": target})
    if target != []:
        assert score(scorer, "anything", target=target).scores == {}


def test_an_empty_target_that_is_meant_is_met_by_an_empty_answer_alone():
    for scorer in (ExactMatch(empty=True, ignore_punctuation=True), Includes(empty=True, ignore_punctuation=True)):
        assert scorer.doc_fault({"target": ""}) is None
        assert score(scorer, "anything", target="").scores == {scorer.name: 0.0}
        assert score(scorer, "...", target="").scores == {scorer.name: 1.0}


@pytest.mark.parametrize("scorer", [ExactMatch(), Includes(), Numeric()])
def test_a_target_that_is_true_or_false_gets_a_fix(scorer):
    fault = scorer.doc_fault({"target": False})
    assert 'a bool: write the target as the text "false"' in fault


def test_a_doc_without_the_field_is_an_error_not_a_wrong_answer():
    found = score(ExactMatch(field="answer"), "x", target="x", question="q")
    assert found.errored
    assert found.failure == "the doc has no field 'answer'; it has target, question"


def test_a_value_that_cannot_be_compared_is_unparsed_and_a_faulty_target_an_error():
    """A model decides what it puts into JSON, and a sample that is errored would be tried again."""
    for scorer in (ExactMatch(), Includes(), Numeric()):
        for value in (["a"], {"a": 1}, True, None):
            found = score(scorer, value, target=1)
            assert found.failure is not None and not found.errored
    assert score(Numeric(), 1, target="many").errored


def test_a_text_that_is_no_number_is_unparsed():
    for value in ("many", "inf", "1e999"):
        found = score(Numeric(), value, target=1)
        assert not found.errored
        assert found.failure == f"{value!r} cannot be read as a number"


def test_several_answers_score_their_mean_whatever_their_order():
    for values in (["b", "a", "a", "c"], ["a", "b", "c", "a"]):
        assert score_all(ExactMatch(), values, target="a").scores == {"exact_match": 0.5}
    assert score_all(Includes(), ["xa", "x", "x"], target="a").scores["includes"] == pytest.approx(1 / 3)
    assert score_all(Numeric(), [1, "1.0", 2], target=1).scores["numeric"] == pytest.approx(2 / 3)


def test_each_of_several_answers_must_be_comparable():
    assert score_all(Numeric(), [1, "many"], target=1).failure == "'many' cannot be read as a number"
    assert score_all(ExactMatch(), ["a", ["a"]], target="a").failure is not None
    assert score_all(ExactMatch(), [], target="a").errored

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


def test_a_doc_without_the_field_is_an_error_not_a_wrong_answer():
    found = score(ExactMatch(field="answer"), "x", target="x", question="q")
    assert found.errored
    assert found.failure == "the doc has no field 'answer'; it has target, question"


def test_a_value_that_cannot_be_compared_is_an_error_not_a_wrong_answer():
    assert score(ExactMatch(), ["a"], target="a").errored
    assert score(Numeric(), ["1"], target=1).errored
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
    assert score_all(ExactMatch(), ["a", ["a"]], target="a").errored
    assert score_all(ExactMatch(), [], target="a").errored

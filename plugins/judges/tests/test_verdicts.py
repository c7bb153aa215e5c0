"""What a judge says on a scale."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval_judges.verdicts import ScaleVerdict

FIVE = ScaleVerdict(1, 5)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        # the scale is no verdict
        ("Score: 4/5", 4),
        ("4 / 5", 4),
        ("4.0/5.0", 4),
        ("1/5", 1),
        ("5/5", 5),
        ("4 out of 5", 4),
        ("5 out of 5", 5),
        ("4.5/5", 4.5),
        ("4 stars out of 5", 4),
        ("4/5 stars", 4),
        ("I give it 4 of the 5 points", 4),
        ("4 (1 = worst, 5 = best)", 4),
        ("4, where 1 is worst and 5 is best", 4),
        ("On a scale of 1 to 5, I give 4", 4),
        ("4, on a scale from 1 to 5", 4),
        ("Score (1-5): 4", 4),
        ("Score out of 5: 4", 4),
        ("Score: 4 (out of 5)", 4),
        # JSON
        ('{"score": 4, "max": 5}', 4),
        ('{"score": "4/5"}', 4),
        ('{"rating": 4, "confidence": 5}', 4),
        ('{"reason": "2 flaws", "score": 4}', 4),
        ('```json\n{"score": 3}\n```', 3),
        # other numbers beside it
        ("Rating: 4\nConfidence: 2", 4),
        ("I am 90% sure: 4", 4),
        ("Originality 2. Fluency 3. Final score: 4", 4),
        ("My rating is 4 because it has 12 words", 4),
        ("There are 2 flaws. 4", 4),
        ("4\n\nThe sentence has 2 adjectives.", 4),
        # marks
        ("[[4]]", 4),
        ("Rating: [[4]]", 4),
        ("Score: **4**", 4),
        ("**Rating:** 4", 4),
        ("\\boxed{4}", 4),
        ("<score>4</score> for 12 words", 4),
        ("Verdict - 4", 4),
        ("score=4", 4),
        ("Good: 4", 4),
        ("Rare. 5", 5),
        ("I think 3", 3),
        ("４", 4),
        (4, 4),
        # the scale in other words and languages
        ("Puntuación: 4 de 5", 4),
        ("Note : 4 sur 5", 4),
        ("Bewertung: 4 von 5", 4),
        ("Оценка: 4 из 5", 4),
        ("4 over 5", 4),
        ("4 (max 5)", 4),
        ("Score: 4 (maximum: 5)", 4),
        ("a 4 (on a scale of 5)", 4),
        ("4 on a 5-point Likert scale", 4),
        ("4 on a scale from 1 (worst) to 5 (best)", 4),
        ("Score: 4½", 4.5),
        ("\\frac{4}{5}", 4),
        ("４／５", 4),
        ("4 ⁄ 5", 4),
        ('{"score": {"value": 4, "max": 5}}', 4),
        ("4, with 3/5 confidence", 4),
    ],
)
def test_the_number_on_the_scale(text, number):
    assert FIVE.parse(text).value == number


@pytest.mark.parametrize(
    "text",
    [
        "8/10",
        "Score: 4/10",
        "4 out of 10",
        '{"score": 4, "max": 10}',
        '{"score": true}',
        '{"score": [4]}',
        '{"a": 4, "b": 3}',
        True,
        "3-4",
        "3 or 4",
        "Rating: 3-4",
        "between 3 and 4",
        "The answer says [[2]], but [[4]]",
        "<score>2</score> and <score>4</score>",
        "Score: 2. Score: 3",
        "4. The sentence has 2 adjectives.",
        "80%",
        "six",
        "9",
        "0",
        "-3",
        "1e999",
        "no idea",
        "",
        "4 sur 10",
        "4 von 10",
        "4 (max 10)",
        "On a scale of 1-10: 4",
        "On a 10-point scale, Score: 4",
        "4 z 5",
        "4 | 5",
        "4\\5",
        '{"score": 4, "of": 10}',
        '{"score": 4, "max": "10"}',
        '{"score": {"value": 4, "max": 10}}',
        "Clarity: 2\nDepth: 4",
        "- **Clarity**: 2\n- **Depth**: 4",
        '{"clarity": {"score": 2}, "depth": {"score": 4}}',
    ],
)
def test_what_is_no_verdict(text):
    assert not FIVE.parse(text).ok


def test_other_scales():
    assert ScaleVerdict(1, 10).parse("8/10").value == 8
    assert ScaleVerdict(1, 10).parse("10 out of 10").value == 10
    assert not ScaleVerdict(1, 10).parse("4/5").ok
    assert ScaleVerdict(0, 1).parse(".5").value == 0.5
    assert ScaleVerdict(0, 1).parse("0.9/1").value == 0.9
    assert not ScaleVerdict(0, 1).parse("80%").ok
    assert ScaleVerdict(0, 100).parse("80%").value == 80
    assert ScaleVerdict(-2, 2).parse("Score: −1").value == -1


def test_what_a_parser_took_out_has_to_be_the_number_alone():
    assert FIVE.whole("4/5").value == FIVE.whole("4").value == FIVE.whole(4).value == 4
    assert not any(FIVE.whole(said).ok for said in ("4 or 5", "4/10", "four", True, None, "2 4"))


PIECES = st.sampled_from(
    ["Score: ", "4", "5", "/", " out of ", "[[", "]]", '{"score": ', "}", "(1 = ", ")", "\n", "-", "%"]
)


@given(st.lists(PIECES | st.text(max_size=3), max_size=15).map("".join))
@settings(max_examples=300)
def test_no_text_makes_the_reader_raise_or_leave_the_scale(text):
    value = FIVE.parse(text).value
    assert value is None or 1 <= value <= 5
    assert FIVE.whole(text) is not None

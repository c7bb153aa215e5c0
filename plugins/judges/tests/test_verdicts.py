"""What a judge says on a scale."""

from __future__ import annotations

import time

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
        # other numbers next to it
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


MORE = [
    ("Score: 4 / 5.", 4),
    ("Rating: 4/5 stars", 4),
    ("I'd rate this 4/5.", 4),
    ("4 out of five", 4),
    ("four out of five", None),
    ("4 of 5", 4),
    ("4/5 (good)", 4),
    ("(4/5)", 4),
    ("[4/5]", 4),
    ("**4/5**", 4),
    ("`4/5`", 4),
    ("$4/5$", 4),
    ("\\boxed{4/5}", 4),
    ("Score: 4.0", 4),
    ("Score 4", 4),
    ("score is 4", 4),
    ("The score is 4.", 4),
    ("My score: 4", 4),
    ("Overall: 4", 4),
    ("Overall score: 4/5", 4),
    ("Final rating: 4 out of 5", 4),
    ("★★★★☆", None),
    ("4★", 4),
    ("4 stars", 4),
    ("4-star", 4),
    ("Level 4", 4),
    ("Grade: 4", 4),
    ("Mark: 4", 4),
    ("Points: 4", 4),
    ("4 points", 4),
    ("4 pts out of 5", 4),
    ("4 points (out of 5 possible)", 4),
    ("Score (out of 5): 4", 4),
    ("Score [1-5]: 4", 4),
    ("Score on a 1-5 scale: 4", 4),
    ("On a 1–5 scale: 4", 4),
    ("on a scale of 1 (worst) to 5 (best): 4", 4),
    ("From 1 to 5, I'd say 4", 4),
    ("Scale 1-5. Rating 4.", 4),
    ("5 is best; I give 3", 3),
    ("Rating: 2 (1 is low, 5 is high)", 2),
    ("Rating: 4, Confidence: 90%", 4),
    ("Rating: 4 | Confidence: 3", 4),
    ("Confidence: 2\nRating: 4", 4),
    ("Rating - 4\nCertainty - 5", 4),
    ("Reason: has 3 flaws.\nScore: 2", 2),
    ("Score: 2\nReason: has 3 flaws.", 2),
    ("Explanation: 5 points were made.\nRating: 1", 1),
    ('{"rating": 4}', 4),
    ('{"Score": "4"}', 4),
    ('{"score": 4.5}', 4.5),
    ('{"score": 4, "scale": 5}', 4),
    ('{"score": 4, "out_of": 5}', 4),
    ('{"score": 4, "reasoning": "1 error"}', 4),
    ('{"verdict": {"score": 4}}', 4),
    ('[{"score": 4}]', 4),
    ('{"score": null}', None),
    ('{"score": "four"}', None),
    ('{"score": false}', None),
    ('{"score": "true"}', None),
    ('{"score": 6}', None),
    ('{"score": 0}', None),
    ('{"score": -4}', None),
    ('{"score": "4/10"}', None),
    ('{"score": [4, 5]}', None),
    ("Score: 8/10", None),
    ("4/100", None),
    ("40/50", None),
    ("4 out of 6", None),
    ("4/4", None),
    ("Score: 5/4", None),
    ("4 of 10", None),
    ("80/100", None),
    ("4 to 5", None),
    ("4–5", None),
    ("4~5", None),
    ("4 or 5", None),
    ("between 4 and 5", None),
    ("Rating: 4 or 5", None),
    ("3.5-4", None),
    ("[[2]] vs [[4]]", None),
    ("[[4]] [[4]]", 4),
    ("Score: 4. Final score: 3", 3),
    ("Initial score: 2\nFinal score: 4", 4),
    ("Score: 4\nScore: 4", 4),
    ("A: 2\nB: 4", None),
    ("Originality: 2\nFluency: 5", None),
    ("Originality: 2\nFluency: 5\nOverall: 4", 4),
    ("-4", None),
    ("+4", 4),
    ("4%", None),
    ("4.", 4),
    ("4!", 4),
    (" 4 ", 4),
    ("4\n", 4),
    ("٤", 4),
    ("四", None),
    ("IV", None),
    ("N/A", None),
    ("none", None),
    ("4e0", 4),
    ("0.8", None),
    ("5.1", None),
    ("4,5", None),
    ("1/2", None),
    ("2½", 2.5),
    ("3.75", 3.75),
    ("5/5!", 5),
    ("full marks", None),
    ("[[4/5]]", 4),
    ("<rating>4/5</rating>", 4),
    ("<score>4</score><confidence>5</confidence>", 4),
    ("Verdict: 4 because 2 < 3", 4),
]


@pytest.mark.parametrize(("text", "number"), MORE)
def test_more_verdicts(text, number):
    assert FIVE.parse(text).value == number


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


@pytest.mark.parametrize("run", ["9", "1.", "4/", "4 ", "Score: ", "1 = ", "[[", "[[4 ", "4-", "\n", "(", "of 5 ", "%"])
def test_a_long_run_of_signs_takes_time_in_proportion_to_its_length(run):
    start = time.process_time()
    FIVE.parse(f"Score: {run * 10_000}")
    assert time.process_time() - start < 5

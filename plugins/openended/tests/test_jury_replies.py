"""Reading what judges write: any text is read or refused with a reason, and what is written comes back."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval_openended.judging.replies import (
    ANALYSTS,
    Analyst,
    UnreadableReplyError,
    read_confidence,
    read_final,
    read_points,
    read_probable,
    read_turn,
)

PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="[]():\n\r*"), min_size=1).filter(
    lambda text: text.strip() and not text.strip().casefold().startswith(("to ", "none", "no", "n/a"))
)
MARKED = st.text("[]()YESNOPIT0123456789.- ato:\nquery", max_size=120)


@given(MARKED, st.sampled_from(ANALYSTS))
def test_any_text_is_read_or_refused(text: str, speaker: Analyst) -> None:
    for read in (
        read_points,
        read_confidence,
        read_final,
        lambda text: read_turn(text, speaker),
        lambda text: read_probable(text, "safe", "unsafe"),
    ):
        try:
            read(text)
        except UnreadableReplyError as error:
            assert str(error)


@given(st.lists(PLAIN, min_size=1, max_size=6), PLAIN)
def test_points_come_back_in_order_without_what_stood_before_them(points: list[str], before: str) -> None:
    text = before + "".join(f"[[POINT]] {point}\n" for point in points)
    assert read_points(text) == tuple(point.strip() for point in points)


@given(PLAIN, PLAIN, st.dictionaries(st.sampled_from(ANALYSTS), PLAIN, max_size=3), st.sampled_from(ANALYSTS))
def test_a_turn_comes_back_in_its_parts(
    opinion: str, answers: str, questions: dict[Analyst, str], speaker: Analyst
) -> None:
    asked = "\n".join(f"To {whom} analyst: {question}" for whom, question in questions.items())
    text = (
        f"[[Answering questions from other agents]]: {answers}\n"
        f"[[General thoughts/opinion]]: {opinion}\n[[Queries for other agents]]: {asked or 'None'}"
    )
    turn = read_turn(text, speaker)
    assert (turn.opinion, turn.answers) == (opinion.strip(), answers.strip())
    assert turn.questions == {who: (said.strip(),) for who, said in questions.items() if who != speaker}
    assert len(turn.unaddressed) == (speaker in questions)


@given(st.floats(0, 1), st.sampled_from(["([YES])", "(NO)", "", "([YES/NO])"]))
def test_a_confidence_comes_back_with_its_stance(value: float, stance: str) -> None:
    found = read_confidence(f"Because. Thus, [[{value:.6f}]]. {stance}")
    assert found.value == pytest.approx(value, abs=1e-6)
    assert found.stance == {"([YES])": True, "(NO)": False}.get(stance)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[safe]] ([0.9])", (True, 0.9)),
        ("Twenty words. [[Unsafe]]\nProbability: ([0.3]).", (False, 0.3)),
        ("[[unsafe]] ([ 1 ])", (False, 1.0)),
    ],
)
def test_a_verdict_with_its_probability(text: str, found: tuple[bool, float]) -> None:
    assert read_probable(text, "safe", "unsafe") == found


@pytest.mark.parametrize(
    "text", ["[[safe/unsafe]] ([0.9])", "[[safe]] 0.9", "[[safe]] ([9])", "[[safe]] ([.1]) ([.2])"]
)
def test_a_verdict_without_one_word_and_one_probability_is_refused(text: str) -> None:
    with pytest.raises(UnreadableReplyError):
        read_probable(text, "safe", "unsafe")


def test_bold_labels_and_the_paper_s_own_numbering_are_read() -> None:
    turn = read_turn(
        "1. **[[Answering questions from other agents]]**: To solution analyst's question about weight: 40 kg.\n\n"
        "2. **[[General thoughts/opinion on whether ...]]:** It can be done.\n\n"
        "3. [[Queries for other agents]]:\n**To the Criterion Analyst:** How strict?\n- To Problem Analyst: How deep?",
        "solution",
    )
    assert turn.opinion == "It can be done." and "40 kg." in turn.answers
    assert turn.questions == {"criterion": ("How strict?",), "problem": ("How deep?",)}


def test_a_number_as_only_python_writes_it_is_none() -> None:
    with pytest.raises(UnreadableReplyError, match="is not a number"):
        read_confidence("[[0_1]]")


@pytest.mark.parametrize("run", [" ", "\n", "*", "to ", "(", "[[", "no further ", "1.\n", "\n 1.", ": "])
@pytest.mark.parametrize(
    "first", ["[[", "([", "(", "to the ", "[[General thoughts/opinion]] a ", "[[Queries]] no further"]
)
def test_a_long_run_of_signs_takes_time_in_proportion_to_its_length(first: str, run: str) -> None:
    text = f"[[General opinion]] b {first}{run * 10_000}x"
    start = time.process_time()
    for read in (read_points, read_confidence, read_final, lambda said: read_turn(said, "problem")):
        try:
            read(text)
        except UnreadableReplyError:
            continue
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("** It works. **", "It works."),
        (": It works.\n\n 2. **", "It works."),
        ("It took 2.", "It took 2."),
        ("It works.\n3.", "It works."),
        ("\n3.", "3."),
        ("It works. *\n\n", "It works."),
    ],
)
def test_what_is_around_an_opinion_is_left_out(body: str, said: str) -> None:
    assert read_turn(f"[[General thoughts/opinion]]{body}", "problem").opinion == said

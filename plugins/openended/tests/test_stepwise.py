"""Step-by-step sampling: what a candidate is, which one is taken, when it ends, what never ends it."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openended_support import Ended, Scripted, completion

from creval.plugin import Completion, TokenLogprob, UsageError
from creval_openended.stepwise.candidates import Candidate, Ends, read_candidate, without_label
from creval_openended.stepwise.choice import choose, is_complete
from creval_openended.stepwise.protocol import Stepwise
from creval_openended.stepwise.sentences import first_sentence_end, split_sentences

ENDS = st.sampled_from(["label", "line", "sentence"])
FULL = [completion("Step 1: Begin.\nStep 2: Go on.\nStep 3: End.")]


def play(replies: list[list[Completion]], **settings: Any) -> Scripted:
    session = Scripted(replies)
    asyncio.run(Stepwise(**{"n": 3, **settings}).run(session))  # type: ignore[arg-type]
    return session


# --- candidates -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Step 2: tie the rope", "usable"),
        ("STOP", "stop"),
        ("Step 4: STOP", "stop"),
        ("stop.", "stop"),
        ("Step 3: stop the water with your thumb", "usable"),
        ("Nonstop flights leave at noon", "usable"),
        ("", "empty"),
        ("   \n ", "empty"),
    ],
)
def test_what_a_text_is(text: str, kind: str) -> None:
    assert read_candidate(completion(text)).kind == kind


def test_cut_and_refused_candidates_are_left_out() -> None:
    assert read_candidate(completion("Step 1: take the", finish="length")).kind == "cut"
    assert read_candidate(completion("", refusal="no")).kind == "refused"
    assert read_candidate(completion("x", finish="content_filter")).kind == "refused"


def test_a_step_that_was_finished_before_the_cut_is_whole() -> None:
    found = read_candidate(completion("Step 1: take it.\nStep 2: and th", finish="length"))
    assert (found.kind, found.text) == ("usable", "Step 1: take it.")


def test_log_probabilities_are_those_of_the_step_alone() -> None:
    tokens = (TokenLogprob("Step 1: a", -1.0), TokenLogprob(" b", -2.0), TokenLogprob("\nStep 2: c", -30.0))
    found = read_candidate(Completion("Step 1: a b\nStep 2: c", "stop", None, tokens))
    assert (found.text, found.total, found.mean, found.tokens) == ("Step 1: a b", -3.0, -1.5, 2)


@pytest.mark.parametrize(
    "text", ["Step 3: tie it", "**Step 3:** tie it", "step 3 - tie it", "Step: tie it", "tie it", "Step 12. tie it"]
)
def test_labels_go_before_texts_are_compared(text: str) -> None:
    assert without_label(text) == "tie it"


@given(st.text(max_size=80), st.sampled_from(["stop", "length", "content_filter"]), ENDS)
def test_any_completion_is_read(text: str, finish: str, ends: Ends) -> None:
    found = read_candidate(completion(text, finish=finish), ends)
    assert found.text in text or not found.text
    assert Candidate.from_json(found.to_json()) == found


# --- sentences --------------------------------------------------------------------------------------


def test_sentences() -> None:
    text = 'Mr. Lee met Dr. A. Ode at 5. "Why?" she asked... He left! No. 4 was empty.'
    assert split_sentences(text) == [
        "Mr. Lee met Dr. A. Ode at 5.",
        '"Why?" she asked...',
        "He left!",
        "No. 4 was empty.",
    ]
    assert split_sentences("") == [] and split_sentences("no end") == ["no end"]


@given(st.text(alphabet="aB .!?\"'\n", max_size=60))
def test_splitting_keeps_every_character_but_white_space(text: str) -> None:
    joined = "".join("".join(split_sentences(text)).split())
    assert joined == "".join(text.split()) and first_sentence_end(text) <= len(text)


# --- choice -----------------------------------------------------------------------------------------


def usable(text: str, mean: float | None = None, total: float | None = None) -> Candidate:
    return Candidate(text, "usable", "stop", mean, total, 1)


STOP = Candidate("STOP", "stop", "stop")


def test_more_than_half_must_say_stop() -> None:
    assert not is_complete([STOP] * 5 + [usable("a")] * 5, "more_than_half")
    assert is_complete([STOP] * 6 + [usable("a")] * 4, "more_than_half")
    assert is_complete([STOP] * 5 + [usable("a")] * 5, "half")


def test_the_most_probable_candidate_is_taken_and_the_first_of_equals() -> None:
    long_, short = usable("long", -0.5, -10.0), usable("short", -0.9, -0.9)
    assert choose([short, long_], "mean") == 1 and choose([short, long_], "sum") == 0
    assert choose([STOP, usable("a", -1, -1), usable("b", -1, -1)], "mean") == 1
    assert choose([STOP], "mean") is None


def test_without_log_probabilities_the_most_frequent_text_is_taken() -> None:
    assert choose([usable("a"), usable("b"), usable("b")], "mean") == 1
    assert choose([usable("a", -1, -1), usable("b"), usable("c")], "mean") == 0


# --- protocol ---------------------------------------------------------------------------------------


def test_a_solution_is_made_step_by_step() -> None:
    first = [completion("Step 1: a", -2.0), completion("Step 1: b", -0.1), completion("STOP", -0.01)]
    second = [completion("STOP", -0.1), completion("STOP", -0.1), completion("Step 2: c", -0.1)]
    session = play([FULL, first, second])
    assert session.answers == ["Step 1: b"]
    assert [step["chosen"] for step in session.outcome["steps"]] == [1, None]
    assert (session.outcome["limit"], session.outcome["ended"]) == (3, "stop")
    assert session.asked[0] == {"tolerate": ("length", "refusal")}
    assert session.asked[1] == {"tolerate": ("length", "refusal"), "n": 3, "logprobs": True}
    assert session.prompts[2] == {"name": "step", "steps": ["Step 1: b"], "number": 2, "limit": 3, "last": False}


@pytest.mark.parametrize(("labels", "limit"), [(0, 2), (1, 2), (7, 7), (30, 10)])
def test_the_full_answer_sets_the_limit_within_bounds(labels: int, limit: int) -> None:
    full = [completion("\n".join(f"Step {i}: x" for i in range(1, labels + 1)) or "none")]
    session = play([full, *[[completion(f"Step: {i}", -1.0)] * 3 for i in range(limit)]])
    assert session.outcome["limit"] == limit == len(session.outcome["steps"])
    assert session.outcome["ended"] == "limit" and session.prompts[-1]["last"]


def test_sentences_are_counted_where_a_step_is_one() -> None:
    session = play([[completion("One. Two. Three.")], *[[completion("A b. C d.", -1.0)]] * 3], n=1, unit="sentence")
    assert session.outcome["limit"] == 3 and session.answers == ["A b.\nA b.\nA b."]


def test_one_bad_candidate_of_many_ends_nothing() -> None:
    mixed = [completion("Step 1: a", -1.0), completion("Step 1: b and", -0.1, "length"), completion("", -0.1)]
    session = play([FULL, mixed, [completion("STOP")] * 3])
    assert session.answers == ["Step 1: a"]
    assert [each["kind"] for each in session.outcome["steps"][0]["candidates"]] == ["usable", "cut", "empty"]


def test_a_step_without_a_usable_candidate_ends_the_solution_there() -> None:
    session = play([FULL, [completion("Step 1: a", -1.0)] * 3, [completion("x", finish="length")] * 3])
    assert session.answers == ["Step 1: a"] and session.outcome["ended"] == "no usable candidate"


def test_a_sample_without_a_first_step_is_unparsed_with_its_reasons() -> None:
    with pytest.raises(Ended, match="2 cut, 1 empty"):
        play([FULL, [completion("x", finish="length")] * 2 + [completion("")]])
    with pytest.raises(Ended, match="3 stop"):
        play([FULL, [completion("STOP")] * 3])


def test_bounds_that_are_none_are_refused() -> None:
    for steps in ([3], [5, 2]):
        with pytest.raises(UsageError, match="not bounds"):
            Stepwise(steps=steps)


@pytest.mark.parametrize("ends", ["label", "line", "sentence"])
@pytest.mark.parametrize("run", ["\n", " \n*", ".", "! ", "step ", "Step 1", ". "])
def test_a_long_run_of_signs_takes_time_in_proportion_to_its_length(run: str, ends: Ends) -> None:
    """Models fall into them; a pattern that tries each start of the run would take hours."""
    text = f"Step 1: Begin.{run * 20_000}x"
    start = time.process_time()
    assert read_candidate(completion(text), ends).text
    assert time.process_time() - start < 5


MARKS = st.sampled_from(["\n", " ", "*", "#", "step 2", "Step", "3", ":", "a", "STEP\t4", "\u2028"])


@given(st.lists(MARKS, max_size=12).map("".join))
def test_a_step_ends_before_the_line_of_the_next_numbered_one(rest: str) -> None:
    found = re.compile(r"\n\s*[*#_>\s]*step\s*\d+", re.IGNORECASE).search(f"a{rest}", 1)
    ends = found.start() if found else None
    assert read_candidate(completion(f"a{rest}")).text == f"a{rest}"[:ends].strip()

"""`variant: released`: what the authors' code would give, setting by setting.

`released_steps.jsonl` holds 60 random steps with the entropies that the authors' own functions gave for them
(MacGyverSemanticProbing at b2a17dd, `gen_C` and the entropy of length-normalised probabilities).
"""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openended_support import Scripted, completion

from creval.plugin import Completion, Condition, Entailment, SampleKey, ScorerInput, TokenLogprob
from creval_openended.stepwise.candidates import Candidate, read_candidate, says_step_too_often
from creval_openended.stepwise.protocol import Stepwise
from creval_openended.stepwise.settings import StepwiseSettings
from creval_openended.task.divergence import Divergence

Pair = tuple[str, str]


class World:
    """The context of a scorer whose entailment is a table of pairs."""

    seed, task = 3, "t"

    def __init__(self, holds: set[Pair]) -> None:
        self.holds = holds
        self.asked: list[Pair] = []

    def resource(self, name: str) -> Entailment:
        return self  # type: ignore[return-value]

    def predict(self, pairs: Any) -> Any:
        import numpy as np

        self.asked += pairs
        return np.array([[1.0, 0, 0] if pair in self.holds else [0, 1.0, 0] for pair in pairs]).reshape(-1, 3)


def scored(world: World, candidates: list[tuple[str, float | None]], **settings: Any) -> dict[str, float]:
    rows = [Candidate(text, "usable", "stop", mean, mean, 1).to_json() for text, mean in candidates]
    outcome = {"steps": [{"number": 1, "candidates": rows, "chosen": 0, "complete": False}]}
    item = ScorerInput(SampleKey("t", "d", "", 0), {}, Condition("", {}), ["x"], ["x"], outcome)
    (found,) = asyncio.run(Divergence(**settings).score([item], world))  # type: ignore[arg-type]
    return dict(found.scores)


def released(candidates: list[tuple[str, float]], holds: set[Pair]) -> float:
    """Their counting: the first text is in the first class, and is met again wherever it occurs more than once."""
    texts = [text for text, _ in candidates]
    classes: list[list[int]] = [[0]]
    for text in texts:
        place = texts.index(text)
        if place == 0:
            if texts.count(text) > 1:
                classes[0].append(0)
            continue
        for members in classes:
            founder = texts[members[0]]
            if founder == text or ((founder, text) in holds and (text, founder) in holds):
                members.append(place)
                break
        else:
            classes.append([place])
    weights = [sum(math.exp(candidates[place][1]) for place in members) for members in classes]
    shares = [weight / sum(weights) for weight in weights]
    return -sum(share * math.log(share) for share in shares)


def test_copies_of_the_first_candidate_count_once_more() -> None:
    step: list[tuple[str, float | None]] = [(text, -1.0) for text in ("a", "a", "b", "c")]
    found, plain = scored(World(set()), step, variant="released"), scored(World(set()), step)
    assert found["semantic_entropy"] == pytest.approx(0.950270539, abs=1e-9)
    assert plain["semantic_entropy"] == pytest.approx(1.039720771, abs=1e-9)
    assert found["candidates"] == plain["candidates"] == 4 and found["classes"] == plain["classes"] == 3
    assert found["naive_entropy"] == plain["naive_entropy"] == pytest.approx(math.log(4))
    assert found["relative_entropy"] == pytest.approx(0.950270539 / math.log(4), abs=1e-9)


def test_steps_have_the_entropies_of_the_authors_functions(parity: Any) -> None:
    lines = (Path(__file__).parent / "released_steps.jsonl").read_text("utf-8").splitlines()
    pairs = []
    for step in map(json.loads, lines):
        tokens = [tuple(TokenLogprob("x", value) for value in values) for values in step["logprobs"]]
        read = [read_candidate(Completion("x" * len(each), "stop", None, each)) for each in tokens]
        holds = {(pair[0], pair[1]) for pair in step["entails"].split()}
        candidates = [(text, each.mean) for text, each in zip(step["texts"], read, strict=True)]
        pairs.append((scored(World(holds), candidates, variant="released")["semantic_entropy"], step["entropy"]))
    assert len(pairs) == 60 and all(ours == pytest.approx(theirs, abs=1e-9) for ours, theirs in pairs)
    about = {
        "against": "semantic entropy of random steps by the authors' own functions, of which several texts are equal; "
        "no answers are published",
        "commit": "b2a17dd8ec585a837522c0051cad10cdbaade568",
    }
    parity.add("macgyver_released", about, pairs, 1e-9)


def test_ten_unlike_candidates_are_the_same_under_both() -> None:
    step: list[tuple[str, float | None]] = [(str(i), -0.1 * (i + 1)) for i in range(10)]
    for settings in ({"variant": "released"}, {}):
        assert scored(World(set()), step, **settings)["semantic_entropy"] == pytest.approx(2.262349803, abs=1e-9)


STEP = st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(-8, 0)), min_size=1, max_size=10)
RELATION = st.sets(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")))


@given(STEP, RELATION)
def test_entropies_are_those_of_their_counting(step: list[tuple[str, float]], holds: set[Pair]) -> None:
    found = scored(World(holds), step, repeats="released")  # type: ignore[arg-type]
    assert found["semantic_entropy"] == pytest.approx(released(step, holds), abs=1e-9)
    counted = scored(World(holds), [(text, None) for text, _ in step], variant="released")
    assert counted["semantic_entropy_count"] == pytest.approx(released([(t, 0.0) for t, _ in step], holds), abs=1e-9)


def test_entailment_sees_the_label() -> None:
    step: list[tuple[str, float | None]] = [("Step 1: a", -1.0), ("Step 1: b", -1.0)]
    kept, dropped, one = World(set()), World(set()), World(set())
    scored(kept, step, variant="released")
    scored(dropped, step)
    scored(one, step, variant="released", label="drop")
    assert kept.asked == [("Step 1: a", "Step 1: b")] and dropped.asked == one.asked == [("a", "b")]


# --- sampling ---------------------------------------------------------------------------------------


def play(replies: list[list[Completion]], **settings: Any) -> Scripted:
    session = Scripted(replies)
    asyncio.run(Stepwise("released", n=4, **settings).run(session))  # type: ignore[arg-type]
    return session


def test_what_the_switch_sets() -> None:
    found = StepwiseSettings.of("released")
    assert (found.select, found.majority, found.counted, found.ends, found.redraw) == (
        "sum",
        "half",
        "words",
        "line",
        5,
    )
    assert StepwiseSettings.of("released", select="mean", redraw=0) == StepwiseSettings(
        majority="half", counted="words", ends="line"
    )
    assert StepwiseSettings.of() == StepwiseSettings()
    assert Stepwise("released").expected_calls({}) == (3, 61) and Stepwise().expected_calls({}) == (3, 11)


def test_half_of_all_end_it_and_the_highest_sum_is_taken() -> None:
    full = [completion("Step 1: a")]
    first = [completion("Step 1: a long one of words", -0.5), completion("Step 1: short", -0.9), *[completion("STOP")]]
    second = [completion("STOP"), completion("Step 2: not STOPPED", -0.1), *[completion("Step 2: b", -0.1)] * 2]
    session = play([full, [*first, completion("Step 1: x", -9.0)], second])
    assert session.answers == ["Step 1: short"] and session.outcome["ended"] == "stop"


def test_every_word_step_of_the_full_answer_counts() -> None:
    full = [completion("Step 1: a. Step 1: again. Step by Step. step 9")]
    again = [[completion(f"Step {i}: a {i}", -1.0)] * 4 for i in range(1, 5)]
    assert play([full, *again]).outcome["limit"] == 4


def test_a_step_is_the_line_that_has_the_label() -> None:
    tokens = ("Sure.", "\n", "Step", " 1: a", "\n", "More.")
    logprobs = tuple(TokenLogprob(token, -float(i + 1)) for i, token in enumerate(tokens))
    found = read_candidate(Completion("".join(tokens), "length", None, logprobs), "line")
    assert (found.text, found.kind, found.total, found.tokens) == ("Step 1: a", "usable", -7.0, 2)
    assert read_candidate(completion("no label", finish="length"), "line").kind == "cut"
    assert read_candidate(completion("\n no label\nmore", -1.0), "line").text == "no label"


def test_a_probability_that_is_not_known_is_left_out_under_both() -> None:
    logprobs = tuple(TokenLogprob(token, value) for token, value in (("Step 1:", -1.0), (" a", -9999.0), (" b", -3.0)))
    for ends in ("label", "line"):
        found = read_candidate(Completion("Step 1: a b", "stop", None, logprobs), ends)  # type: ignore[arg-type]
        assert (found.mean, found.total, found.tokens) == (-2.0, -4.0, 2)
    none = Completion("Step 1:", "stop", None, (TokenLogprob("Step 1:", -9999.0),))
    assert read_candidate(none).mean is None


def test_a_candidate_of_many_steps_is_sampled_again_up_to_five_times() -> None:
    many = completion("Step 1: a. Step 2: b. Step 3: c.", -1.0)
    assert says_step_too_often(many.text) and not says_step_too_often("Step 1: Step 2: Step 3: STOP")
    good = completion("Step 1: a", -1.0)
    first = [[completion("Step 1: x Step 2: y")], [good, many, good, many], [good, many]]
    session = play([*first, [completion("Step 1: b", -0.1)], [completion("STOP")] * 4])
    assert [each["n"] for each in session.asked[1:]] == [4, 2, 1, 4]
    assert session.outcome["steps"][0]["redrawn"] == 3 and session.answers == ["Step 1: b"]
    stubborn = play([*first[:1], [good, good, good, many], *[[many]] * 5, [completion("STOP")] * 4])
    assert len(stubborn.asked) == 8 and stubborn.outcome["steps"][0]["redrawn"] == 5

"""Every data set: its own answer in the forms of models, fifty damaged ones, the library's verifier and ours."""

from __future__ import annotations

import functools
import random

import pytest
from support.reasoning_gym_score import scored

from creval_reasoning_gym.answer import FinalAnswer
from creval_reasoning_gym.guard import is_harmless
from creval_reasoning_gym.library import Made, entry, levels_of, names, open_set
from creval_reasoning_gym.solutions import solution

FORMS = {
    "tag": "I think it is this.\n<answer>{}</answer>",
    "upper-case tag and white space": "<think>no</think>\n<ANSWER>\n {} \n</ANSWER>\n",
    "tag that is not closed": "So:\n<answer>{}",
    "fenced block": "Here it is:\n```\n{}\n```\nThat is all.",
    "fenced block in a tag": "<answer>\n```text\n{}\n```\n</answer>",
    "whole": "{}",
}
ONE_LINE = {
    "box": "Thus $\\boxed{{{}}}$.",
    "box with text": "Thus $\\boxed{{\\text{{{}}}}}$.",
    "cue": "Let me see.\nThe answer is: {}",
    "bold cue": "Let me see.\n**Answer:** {}",
}


COUNT = 105
"""How many the pinned version has. Which these are, the tests know: to ask at collection costs each worker seconds."""


@functools.cache
def library_names() -> list[str]:
    from reasoning_gym.factory import DATASETS

    return sorted(set(DATASETS) - {"composite"})


@pytest.fixture(params=range(COUNT))
def name(request: pytest.FixtureRequest) -> str:
    pytest.importorskip("reasoning_gym")
    return library_names()[request.param]


def test_all_are_counted() -> None:
    pytest.importorskip("reasoning_gym")
    assert len(library_names()) == COUNT


def damaged(answer: str, drawn: random.Random) -> str:
    """One change: a character dropped, doubled, replaced or moved, words swapped, or a part lost."""
    at = drawn.randrange(len(answer)) if answer else 0
    words = answer.split(" ")
    drawn.shuffle(words)
    return drawn.choice(
        [
            answer[:at] + answer[at + 1 :],
            answer[:at] + answer[at : at + 1] * 2 + answer[at + 1 :],
            answer[:at] + drawn.choice("0123456789abcXYZ,[( ") + answer[at + 1 :],
            answer[at:] + answer[:at],
            " ".join(words),
            answer[:at],
            answer[::-1],
        ]
    )


def test_right_and_damaged_answers(name: str) -> None:
    made = Made(name, 2, 42)
    item = entry(made, 0)
    answer = solution(item)
    assert answer is not None
    assert scored(made, answer) == (pytest.approx(open_set(made).score_answer(answer, item)), None)
    assert scored(made, answer)[0] >= 0.99

    drawn = random.Random(name)
    lower = 0
    for _ in range(50):
        text = damaged(answer, drawn)
        found, details = scored(made, text)
        if is_harmless(name, text):
            try:
                expected = open_set(made).score_answer(text, item)
            except Exception:
                expected = 0.0
            assert found == pytest.approx(min(1, max(0, expected)))
        else:
            assert details == {"refused": True}
        assert 0 <= found <= 1
        lower += found < 0.99
    assert lower > 0


def test_an_answer_is_read_out_of_the_forms_of_models(name: str) -> None:
    answer = solution(entry(Made(name, 2, 42), 0))
    assert answer is not None
    forms = FORMS | ({} if "\n" in answer or set(answer) & set("{}\\") or answer.endswith(".") else ONE_LINE)
    for form, template in forms.items():
        read = FinalAnswer().parse(template.format(answer))
        assert read.ok
        assert read.value == answer.strip(), form


def test_settings_and_levels_reach_the_generator() -> None:
    hard = open_set(Made("chain_sum", 3, 7, '{"max_terms": 9, "min_terms": 9}'))
    assert hard[0]["metadata"]["num_terms"] == 9
    assert (hard.size, hard.seed) == (3, 7)
    levels = levels_of("chain_sum")
    terms = [open_set(Made("chain_sum", 3, 7, "{}", level)).config.max_terms for level in levels]
    assert len(levels) == 4
    assert terms == sorted(set(terms))
    assert all(levels == sorted(levels) for levels in names().values())
